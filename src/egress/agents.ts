import type { ClientRequest } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { HttpsProxyAgent } from 'https-proxy-agent';
import type { Settings } from '../config/settings.js';
import { Connection } from './connection.js';
import { openTcp, toHost } from './dial.js';
import { ConnectTimedOut } from './failures.js';
import { openTunnel, type Proxy } from './open-tunnel.js';

/**
 * Our side of TLS with the bank, handed down by auth. It is shown to the bank only, never to a proxy.
 */
export interface ClientTls {
  /** PEM, PKCS#8, unencrypted. */
  readonly key: string;
  /** PEM, the leaf first, then its intermediates. */
  readonly cert: string;
  /** PEM of the only CA certificates trusted for the bank; null for the runtime's own. */
  readonly ca: string | null;
}

/** Options of a call for the agent, beyond Node's. */
export interface CallOptions extends RequestOptions {
  /** Ends the opening of a connection for this call. Not Node's `signal`, which would stay with a socket others use later. */
  readonly callSignal?: AbortSignal | undefined;
}

/** Keeps connections to one host of the bank. Its session cache and its connections end with it. */
export type BankAgent = DirectAgent | TunnelAgent;

/**
 * Connections are kept for the next call, but closed when idle for 30 s: before a firewall or a load balancer on the way
 * forgets them silently, and a call over one hangs until its deadline.
 */
const KEEP_ALIVE = { keepAlive: true, timeout: 30_000 };

/** Of the runtime's default groups all but the hybrid one, whose key share makes a ClientHello of two TCP segments. */
const CLASSICAL_GROUPS = 'X25519:P-256:P-384:P-521';

/** Direct connections to the bank, kept alive and resumed. One deadline spans DNS, TCP and TLS. */
export class DirectAgent extends Agent {
  #hasSession = false;

  constructor(
    tls: ClientTls,
    private readonly settings: Settings,
    readonly isClassical: boolean,
  ) {
    // a session may carry our certificate, and make the ClientHello larger than a segment again
    super({
      ...KEEP_ALIVE,
      ...bankTlsOptions(tls, settings, isClassical),
      ...(isClassical && { maxCachedSessions: 0 }),
    });
    // a coming Node may let NODE_USE_ENV_PROXY steer every agent that leaves this open
    Object.assign(this.options, { proxyEnv: null });
  }

  override createConnection(
    options: CallOptions,
    callback: (error: Error | null, socket: Duplex) => void = () => undefined,
  ): undefined {
    callbackify(() => this.#open(options))(callback);
  }

  async #open(options: CallOptions): Promise<TLSSocket> {
    const deadline = performance.now() + this.settings.BANK_CONNECT_TIMEOUT_MS;
    const address = toAddress(options);
    const target = { host: toHost({ hostname: String(options.host) }), port: Number(options.port), address };
    const tcp = await openTcp(target, this.settings, options.callSignal);
    const socket = super.createConnection({ ...options, socket: tcp } as CallOptions) as TLSSocket;
    socket.once('session', () => (this.#hasSession = !this.isClassical));
    const route = { address, proxy: null, isClassical: this.isClassical, mayResume: this.#hasSession };
    return secureInTime(new Connection(route, socket, tcp), socket, deadline);
  }
}

/**
 * Connections to the bank through a CONNECT proxy, kept alive and resumed. One deadline spans DNS, proxy, tunnel and TLS. Our
 * certificate is shown inside the tunnel only. The library keeps the connections; it would also open them, but takes any
 * answer of a proxy for the bank's and any amount of it.
 */
export class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #proxy: Proxy;
  readonly #settings: Settings;
  #session: Buffer | undefined;

  constructor(
    proxy: Proxy,
    tls: ClientTls,
    settings: Settings,
    readonly isClassical: boolean,
  ) {
    // the library writes the address it is given into debug output
    super(proxy.url.origin, KEEP_ALIVE);
    // HttpsProxyAgent clears `options`. TLS options given above would apply to the proxy, not to the bank.
    Object.assign(this.options, KEEP_ALIVE, bankTlsOptions(tls, settings, isClassical));
    this.#proxy = proxy;
    this.#settings = settings;
  }

  override async connect(_request: ClientRequest, options: CallOptions): Promise<TLSSocket> {
    const { BANK_CONNECT_TIMEOUT_MS: timeoutMs } = this.#settings;
    const deadline = performance.now() + timeoutMs;
    const address = toAddress(options);
    const session = this.#session;
    const tunnel: Socket = await openTunnel(this.#proxy, address, this.#settings, options.callSignal);
    // with the host among the options, a bank named by address is checked against that
    const socket = connect({ ...options, socket: tunnel, session } as ConnectionOptions);
    if (!this.isClassical) socket.on('session', (ticket: Buffer) => (this.#session = ticket));
    const { host } = this.#proxy.url;
    const route = { address, proxy: host, isClassical: this.isClassical, mayResume: session !== undefined };
    return secureInTime(new Connection(route, socket, tunnel), socket, deadline);
  }
}

/** Gives a connecting TLS socket until `deadline`, by `performance.now()`, to be secure. */
function secureInTime({ route }: Connection, socket: TLSSocket, deadline: number): TLSSocket {
  const fail = () => {
    const groups = route.isClassical ? ', with classical key exchange groups either' : '';
    const detail = `No TLS handshake with ${route.address} within BANK_CONNECT_TIMEOUT_MS, though ${route.proxy === null ? 'TCP is connected' : `the egress proxy ${route.proxy} opened a tunnel`}${groups}.`;
    socket.destroy(new ConnectTimedOut('bank-timeout', detail));
  };
  // not `within`: the deadline ends the socket itself, which the agent has handed out long since
  const timer = setTimeout(fail, Math.max(1, deadline - performance.now()));
  const stop = () => clearTimeout(timer);
  socket.once('secureConnect', stop).once('close', stop);
  return socket;
}

/** Host and port of the bank: `api.bank.example:443`. */
function toAddress({ host, port }: CallOptions): string {
  const name = toHost({ hostname: String(host) });
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * The TLS options of every connection to the bank: our certificate, its roots, TLS 1.2 up to BANK_TLS_MAX_VERSION, HTTP/1.1,
 * never unverified. Up to TLS 1.2 the bank may ask for the certificate after the handshake, by renegotiation. Every
 * certificate in BANK_CA_FILE is an anchor, a root or not.
 */
function bankTlsOptions(tls: ClientTls, { BANK_TLS_MAX_VERSION: maxVersion }: Settings, isClassical: boolean) {
  return {
    key: tls.key,
    cert: tls.cert,
    ...(tls.ca !== null && { ca: tls.ca, allowPartialTrustChain: true }),
    ...(isClassical && { ecdhCurve: CLASSICAL_GROUPS }),
    minVersion: 'TLSv1.2' as const,
    maxVersion: `TLSv${maxVersion}` as const,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  };
}
