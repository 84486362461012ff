import { Agent, type AgentOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { bankTlsOptions, dialOptions, type AgentSettings, type CallOptions, type ClientTls } from './agent-options.js';
import { ConnectFailure } from './connect-failure.js';
import { openTunnel } from './open-tunnel.js';
import { secureInTime } from './secure-in-time.js';

/**
 * Connections are kept for the next call, but closed when idle for 30 s: before a firewall or a load balancer on the way
 * forgets them silently, and a call over one hangs until its deadline.
 */
const KEEP_ALIVE: AgentOptions = { keepAlive: true, timeout: 30_000 };

interface Proxy {
  readonly url: URL;
  /** PEM of the roots for an https proxy; null for the runtime's own. */
  readonly ca: string | null;
}

/**
 * Connections to the bank, straight or through a CONNECT proxy, kept alive and resumed. One deadline spans DNS, TCP, tunnel
 * and TLS. Our certificate is shown to the bank only.
 */
export class BankAgent extends Agent {
  readonly #settings: AgentSettings;
  readonly #proxy: Proxy | null;

  constructor(tls: ClientTls, settings: AgentSettings, proxy: Proxy | null) {
    super({ ...KEEP_ALIVE, ...bankTlsOptions(tls, settings), ...dialOptions(settings) });
    this.#settings = settings;
    this.#proxy = proxy;
  }

  override createConnection(
    options: CallOptions,
    callback: (error: Error | null, socket: Duplex) => void,
  ): Duplex | null | undefined {
    const { BANK_CONNECT_TIMEOUT_MS: timeoutMs } = this.#settings;
    if (!this.#proxy) return secureInTime(super.createConnection(options) as TLSSocket, timeoutMs);
    const proxy = this.#proxy;
    callbackify(() => this.#throughProxy(proxy, options))(callback);
    return undefined;
  }

  async #throughProxy(proxy: Proxy, options: CallOptions): Promise<TLSSocket> {
    const { BANK_CONNECT_TIMEOUT_MS: timeoutMs } = this.#settings;
    const host = options.host ?? '';
    const started = performance.now();
    const tunnel = await openTunnel({
      proxy: proxy.url,
      proxyCa: proxy.ca,
      dial: dialOptions(this.#settings),
      target: `${host.includes(':') ? `[${host}]` : host}:${options.port}`,
      timeoutMs,
      signal: options.callSignal,
    });
    const before = tunnel.bytesRead;
    const socket = super.createConnection({ ...options, socket: tunnel } as CallOptions) as TLSSocket;
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
