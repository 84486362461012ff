import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway-error.js';
import { alertOf, isTlsFailure } from './tls-words.js';

/** The size of a fatal TLS alert. A server that sent more has at least answered the ClientHello. */
const ALERT_BYTES = 7;
const MAX_CHAIN = 10;

/**
 * How TLS begins: resuming the last session, with a full handshake, offering classical key exchange groups only, or TLS
 * 1.2 only.
 */
export type Hello = 'any' | 'full' | 'classical' | 'TLS 1.2';

interface ConnectionRoute {
  /** Host and port of the bank: `api.bank.example:443`. */
  readonly address: string;
  /** The proxy of its tunnel without credentials: `proxy.example:3128`; null for a direct connection. */
  readonly proxy: string | null;
  readonly isClassical: boolean;
  /** True if a session of an earlier connection may be resumed. */
  readonly mayResume: boolean;
}

/** A connection to the bank on which TLS has begun. Its properties remain valid after the socket is gone. */
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
    keepUntrustedChain(socket);
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

  get untrustedChain(): readonly X509Certificate[] {
    return untrustedChainOf(this.socket);
  }

  /** True after a full handshake over TLS 1.3: the server checks our certificate only after our side is finished. */
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

const untrustedChains = new WeakMap<Socket, readonly X509Certificate[]>();

/** Keeps the certificates of an untrusted server, which the runtime would discard with the socket. */
export function keepUntrustedChain(socket: TLSSocket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    // it may be called again later, when they are gone
    const leaf = socket.authorizationError ? socket.getPeerX509Certificate() : undefined;
    if (leaf) untrustedChains.set(socket, toChain(leaf));
    return destroy(error);
  };
}

/** The certificates of an untrusted server; empty without them. */
export const untrustedChainOf = (socket: Socket): readonly X509Certificate[] => untrustedChains.get(socket) ?? [];

/** A server's certificate, with the issuers that it sent. */
export function toChain(leaf: X509Certificate | undefined): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next = leaf; next && chain.length < MAX_CHAIN; next = next.issuerCertificate) chain.push(next);
  return chain;
}

/** No connection within the connect deadline. The page is not retried (docs/calling-the-bank.md#retries). */
export class ConnectTimedOut extends GatewayError {}

/**
 * A call that failed below HTTP, and how far it got. `toWireError` turns it into a GatewayError. Never log it: its
 * cause may be an AxiosError, which contains secrets.
 */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  /** Two full handshakes in a row ended like this, one over TLS 1.2 did not, and the host has never answered our certificate. */
  isRejection = false;

  constructor(
    cause: unknown,
    /** The status, if the status line has arrived; else null. */
    readonly status: number | null,
    /** True if the connection had already served a call. */
    readonly reusedSocket: boolean,
    /** Null for a call whose connection never began TLS. */
    readonly connection: Connection | null,
  ) {
    super('the call failed', { cause });
  }

  /** The error and its causes. */
  get causes(): NodeJS.ErrnoException[] {
    const found: Error[] = [];
    for (let error = this.cause; isNativeError(error) && !found.includes(error); error = error.cause) found.push(error);
    return found;
  }

  /** True if the connection was closed, by FIN or RST, before the first byte of the answer. */
  get isClosed(): boolean {
    if (this.status !== null || !this.connection || (this.connection.isAnswered && !this.reusedSocket)) return false;
    const { causes } = this;
    return !causes.some(alertOf) && causes.some(({ code }) => code === 'ECONNRESET' || code === 'EPIPE');
  }

  /** True if a connection ended before the first byte of the answer, however TLS reports it. */
  get isLost(): boolean {
    return this.isClosed || (this.status === null && this.causes.some(isTlsFailure));
  }

  /** True if the connection was kept from an earlier call, or may have resumed the session of one. */
  get isOfEarlierSuccess(): boolean {
    return (
      this.reusedSocket ||
      (this.connection !== null && this.connection.route.mayResume && !this.connection.isJudgedLate)
    );
  }

  /** True if the handshake got no response within the connect deadline. */
  get isSilent(): boolean {
    const { connection } = this;
    return connection !== null && !connection.hasArrived && this.causes.some((each) => each instanceof ConnectTimedOut);
  }
}
