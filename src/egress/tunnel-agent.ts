import type { ClientRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect, type PeerCertificate, type TLSSocket } from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import {
  bankTlsOptions,
  dialOptions,
  KEEP_ALIVE,
  type AgentSettings,
  type CallOptions,
  type ClientTls,
} from './agent-options.js';
import { ConnectFailure } from './connect-failure.js';
import { openTunnel } from './open-tunnel.js';
import { secureInTime } from './secure-in-time.js';

/**
 * Connections to the bank through a CONNECT proxy, kept alive and resumed. One deadline spans DNS, proxy, tunnel and TLS. Our
 * certificate is shown inside the tunnel only. The library keeps the connections; it would also open them, but takes any
 * answer of a proxy for the bank's and any amount of it.
 */
export class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #proxy: URL;
  readonly #proxyCa: string | null;
  readonly #tls: ReturnType<typeof bankTlsOptions>;
  readonly #settings: AgentSettings;
  readonly #sessions = new Map<string, Buffer>();

  /** @param proxyCa PEM of the roots for an https proxy; null for the runtime's own */
  constructor(proxy: URL, proxyCa: string | null, tls: ClientTls, settings: AgentSettings) {
    // the library writes the address it is given into debug output
    super(proxy.origin, KEEP_ALIVE);
    // which it drops
    this.options.timeout = KEEP_ALIVE.timeout;
    this.#proxy = proxy;
    this.#proxyCa = proxyCa;
    this.#tls = bankTlsOptions(tls, settings);
    this.#settings = settings;
  }

  override async connect(_request: ClientRequest, options: CallOptions): Promise<TLSSocket> {
    const { BANK_CONNECT_TIMEOUT_MS: timeoutMs } = this.#settings;
    const host = options.host ?? '';
    const target = `${host.includes(':') ? `[${host}]` : host}:${options.port}`;
    const started = performance.now();
    const tunnel = await openTunnel({
      proxy: this.#proxy,
      proxyCa: this.#proxyCa,
      dial: dialOptions(this.#settings),
      target,
      timeoutMs,
      signal: options.callSignal,
    });
    const before = tunnel.bytesRead;
    const session = this.#sessions.get(target);
    const socket = connect({
      ...this.#tls,
      socket: tunnel,
      servername: isIP(host) ? '' : host,
      // Node would check an IP address against nothing, over a socket that is there already
      checkServerIdentity: (_name: string, certificate: PeerCertificate) => checkServerIdentity(host, certificate),
      ...(session && { session }),
    });
    socket.on('session', (ticket: Buffer) => this.#sessions.set(target, ticket));
    socket.once('error', () => this.#sessions.delete(target));
    const left = Math.max(1, timeoutMs - (performance.now() - started));
    return secureInTime(socket, left, (error) => explain(error, tunnel, before));
  }
}

/** An error before the first byte of the bank's TLS is about the tunnel, not about our certificate. */
function explain(error: Error, tunnel: Socket, before: number): Error {
  if (tunnel.bytesRead === before) return new ConnectFailure('tunnel-closed', error);
  return /wrong version number|packet length too long|http request|invalid record|record overflow/i.test(error.message)
    ? new ConnectFailure('tunnel-noise', error)
    : error;
}
