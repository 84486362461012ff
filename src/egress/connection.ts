import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** A fatal TLS alert fills one record of this size. A server that sent more has at least answered the ClientHello. */
const ALERT_BYTES = 7;

/** Where a connection to the bank leads and how it begins TLS. */
interface ConnectionRoute {
  /** Host and port of the bank: `api.bank.example:443`. */
  readonly address: string;
  /** The proxy of its tunnel without credentials: `proxy.example:3128`; null for a direct connection. */
  readonly proxy: string | null;
  /** True if only classical key exchange groups are offered, so that the ClientHello is one segment. */
  readonly isClassical: boolean;
  /** True if a session of an earlier connection may be resumed. */
  readonly mayResume: boolean;
}

/** A connection to the bank on which TLS has begun, and its progress. The facts outlive the socket. */
export class Connection {
  readonly #before: number;
  #version: string | null = null;
  #isResumed = false;

  constructor(
    readonly route: ConnectionRoute,
    private readonly socket: TLSSocket,
    private readonly tcp: Socket,
  ) {
    this.#before = tcp.bytesRead;
    connections.set(socket, this);
    socket.once('secureConnect', () => {
      this.#version = socket.getProtocol();
      this.#isResumed = socket.isSessionReused();
    });
  }

  /** True once the TLS handshake is finished on our side. */
  get isSecure(): boolean {
    return this.#version !== null;
  }

  /** True if any byte arrived since TLS began. */
  get hasArrived(): boolean {
    return this.#received > 0;
  }

  /** True if the bank answered the ClientHello with more than an alert. */
  get hasServerHello(): boolean {
    return this.#received > ALERT_BYTES;
  }

  /** True if any byte of an HTTP response arrived. */
  get isAnswered(): boolean {
    return this.socket.bytesRead > 0;
  }

  /** True if the runtime does not trust the certificate of the server. */
  get isUntrusted(): boolean {
    return Boolean(this.socket.authorizationError);
  }

  /**
   * True after a full handshake over TLS 1.3, in which the server judges our certificate only after the handshake is finished
   * on our side.
   */
  get isJudgedLate(): boolean {
    return this.#version === 'TLSv1.3' && !this.#isResumed;
  }

  get #received(): number {
    return this.tcp.bytesRead - this.#before;
  }
}

const connections = new WeakMap<Socket, Connection>();

/** Null for a call that has no connection yet. */
export const connectionOf = (socket: Socket | null | undefined): Connection | null =>
  (socket && connections.get(socket)) ?? null;
