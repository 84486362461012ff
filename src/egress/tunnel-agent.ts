import type { ClientRequest } from 'node:http';
import { checkServerIdentity, type PeerCertificate, type TLSSocket } from 'node:tls';
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
import { openTunnel, type Tunnel, type TunnelRequest } from './open-tunnel.js';
import { secureInTime } from './secure-in-time.js';

/**
 * Connections to the bank through a CONNECT proxy, kept alive and resumed. Our certificate is shown inside the tunnel
 * only; one deadline spans DNS, proxy, tunnel and TLS.
 */
export class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #tls: ReturnType<typeof bankTlsOptions>;
  readonly #proxyOptions: TunnelRequest['proxyOptions'];
  readonly #connectTimeoutMs: number;
  readonly #sessions = new Map<string, Buffer>();

  /** @param proxyCa PEM of the roots for an https proxy; null for the runtime's own */
  constructor(proxy: URL, clientTls: ClientTls, settings: AgentSettings, proxyCa: string | null) {
    super(withoutCredentials(proxy), KEEP_ALIVE);
    // the library drops all options of the pool
    this.options.timeout = KEEP_ALIVE.timeout;
    this.#tls = bankTlsOptions(clientTls, settings);
    this.#connectTimeoutMs = settings.BANK_CONNECT_TIMEOUT_MS;
    this.#proxyOptions = {
      keepAlive: true,
      headers: toAuthorization(proxy),
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      ...(proxyCa !== null && { ca: proxyCa }),
      ...dialOptions(settings),
    };
  }

  override async connect(
    request: ClientRequest,
    options: TunnelRequest['bank'] & Pick<CallOptions, 'callSignal'>,
  ): Promise<TLSSocket> {
    const { callSignal, ...target } = options;
    const host = options.host ?? '';
    const key = `${host}:${options.port}`;
    const session = this.#sessions.get(key);
    const started = performance.now();
    const tunnel = await openTunnel({
      proxy: this.proxy,
      proxyOptions: this.#proxyOptions,
      request,
      bank: {
        ...target,
        ...this.#tls,
        // over a socket that is there already Node would check an IP address against the name of the proxy
        checkServerIdentity: (_name: string, certificate: PeerCertificate) => checkServerIdentity(host, certificate),
        ...(session && { session }),
      } as TunnelRequest['bank'],
      timeoutMs: this.#connectTimeoutMs,
      signal: callSignal,
    });
    tunnel.socket.on('session', (ticket: Buffer) => this.#sessions.set(key, ticket));
    tunnel.socket.once('error', () => this.#sessions.delete(key));
    const left = Math.max(1, this.#connectTimeoutMs - (performance.now() - started));
    return secureInTime(tunnel.socket, left, (error) => explainTunnel(error, tunnel));
  }
}

/** An error before the first byte of the bank's TLS is about the tunnel, not about our certificate. */
function explainTunnel(error: Error, tunnel: Tunnel): Error {
  if (tunnel.bytesThrough() === 0) return new ConnectFailure('tunnel-closed', error);
  return /wrong version number|packet length too long|http request|invalid record|record overflow/i.test(error.message)
    ? new ConnectFailure('tunnel-noise', error)
    : error;
}

/** The library writes the address it is given into debug output and events. */
function withoutCredentials(proxy: URL): URL {
  const url = new URL(proxy);
  url.username = '';
  url.password = '';
  return url;
}

function toAuthorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`, 'utf8');
  return { 'Proxy-Authorization': `Basic ${basic.toString('base64')}` };
}
