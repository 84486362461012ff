import type { ClientRequest } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import { isIP } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { BankUntrusted, ConnectTimedOut } from './failures.js';
import { openTunnel, toNoTls, type Proxy } from './open-tunnel.js';
import { followStage, stageOf, type Stage } from './stage.js';
import { alertOf, lacksCommonTls } from './tls-words.js';

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

/**
 * Connections are kept for the next call, but closed when idle for 30 s: before a firewall or a load balancer on the way
 * forgets them silently, and a call over one hangs until its deadline.
 */
const KEEP_ALIVE = { keepAlive: true, timeout: 30_000 };

/** Direct connections to the bank, kept alive and resumed. One deadline spans DNS, TCP and TLS. */
export class DirectAgent extends Agent {
  constructor(
    tls: ClientTls,
    private readonly settings: Settings,
  ) {
    super({ ...KEEP_ALIVE, ...bankTlsOptions(tls, settings), ...dialOptions(settings) });
  }

  override createConnection(options: CallOptions): TLSSocket {
    const socket = super.createConnection(options) as TLSSocket;
    followStage(socket, { host: String(options.host) });
    return secureInTime(socket, toAddress(options), this.settings.BANK_CONNECT_TIMEOUT_MS);
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
  readonly #sessions = new Map<string, Buffer>();

  constructor(proxy: Proxy, tls: ClientTls, settings: Settings) {
    // the library writes the address it is given into debug output
    super(proxy.url.origin, KEEP_ALIVE);
    // HttpsProxyAgent clears `options`. TLS options given above would apply to the proxy, not to the bank.
    Object.assign(this.options, KEEP_ALIVE, bankTlsOptions(tls, settings));
    this.#proxy = proxy;
    this.#settings = settings;
  }

  override async connect(_request: ClientRequest, options: CallOptions): Promise<TLSSocket> {
    const { BANK_CONNECT_TIMEOUT_MS: timeoutMs } = this.#settings;
    const proxy = this.#proxy;
    const target = toAddress(options);
    const started = performance.now();
    const dial = dialOptions(this.#settings);
    const tunnel = await openTunnel({ proxy, dial, target, timeoutMs, signal: options.callSignal });
    const before = tunnel.bytesRead;
    // with the host among the options, a bank named by address is checked against that
    const socket = connect({ ...options, socket: tunnel, session: this.#sessions.get(target) } as ConnectionOptions);
    socket.on('session', (ticket: Buffer) => this.#sessions.set(target, ticket));
    socket.once('error', () => this.#sessions.delete(target));
    followStage(socket, 'tunnel');
    const left = Math.max(1, timeoutMs - (performance.now() - started));
    const explain = (error: Error) => toTunnelError(error, proxy.url, target, tunnel.bytesRead > before);
    return secureInTime(socket, target, left, explain);
  }
}

/** An error before the first byte of the bank's TLS is about the tunnel, not about our certificate. */
function toTunnelError(error: Error, proxy: URL, target: string, isAnswered: boolean): Error {
  if (!isAnswered) {
    return new GatewayError(
      'proxy-unavailable',
      `The tunnel of the egress proxy ${proxy.host} to ${target} was closed before any data arrived; either the proxy closed it, or the bank does not accept the address of the proxy.`,
    );
  }
  const isNoTls = /wrong version number|packet length too long|http request|invalid record|record overflow/i;
  return isNoTls.test(error.message) ? toNoTls(proxy, target) : error;
}

/**
 * Gives a connecting TLS socket until `deadlineMs` from now to be secure, and makes a server that we do not trust
 * recognizable, whatever the error's code is in this version of Node. `explain` may replace other errors of the connection.
 */
function secureInTime(
  socket: TLSSocket,
  address: string,
  deadlineMs: number,
  explain: (error: Error) => Error = (error) => error,
): TLSSocket {
  // not `within`: the deadline ends the socket itself, which the agent has handed out long since
  const timer = setTimeout(() => socket.destroy(toLate(stageOf(socket), address)), deadlineMs);
  const stop = () => clearTimeout(timer);
  socket.once('secureConnect', stop).once('close', stop);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) =>
    destroy(
      error && !(error instanceof GatewayError) ? (toUntrusted(socket, address, error) ?? explain(error)) : error,
    );
  return socket;
}

/** The deadline of a connection has passed. Before TCP is through, it is the network that did not answer. */
function toLate(stage: Stage | null, address: string): ConnectTimedOut {
  const within = 'within BANK_CONNECT_TIMEOUT_MS';
  if (stage === 'DNS') return new ConnectTimedOut('bank-unreachable', `DNS did not resolve ${address} ${within}.`);
  if (stage === 'TCP') {
    const detail = `No TCP connection to ${address} ${within}; a firewall on the way may drop the packets.`;
    return new ConnectTimedOut('bank-unreachable', detail);
  }
  return new ConnectTimedOut('bank-timeout', `No TLS handshake with ${address} ${within}, though TCP is connected.`);
}

/** The error of a server that is not trusted, or with which no TLS is possible; null for any other. */
function toUntrusted(socket: TLSSocket, address: string, error: NodeJS.ErrnoException): GatewayError | null {
  const server = socket.getPeerX509Certificate();
  if (socket.authorizationError) return new BankUntrusted(address, error.code, server);
  if (stageOf(socket) !== 'TLS' || !lacksCommonTls(error, server !== undefined)) return null;
  const alert = alertOf(error);
  const trace = alert === null ? error.code : `TLS alert ${alert}`;
  return new GatewayError(
    'bank-untrusted',
    `${address} and the gateway have no TLS version or cipher in common (${trace}). The gateway speaks TLS 1.2 and 1.3.`,
  );
}

/** Host and port of the bank: `api.bank.example:443`. */
const toAddress = ({ host, port }: CallOptions) => `${host?.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * The TLS options of every connection to the bank: our certificate, its roots, TLS 1.2 up to BANK_TLS_MAX_VERSION, HTTP/1.1,
 * never unverified. Up to TLS 1.2 the bank may ask for the certificate after the handshake, by renegotiation.
 */
function bankTlsOptions(tls: ClientTls, { BANK_TLS_MAX_VERSION: maxVersion }: Settings) {
  return {
    key: tls.key,
    cert: tls.cert,
    ...(tls.ca !== null && { ca: tls.ca }),
    minVersion: 'TLSv1.2' as const,
    maxVersion: `TLSv${maxVersion}` as const,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  };
}

/**
 * How TCP connections are opened. Of several addresses each but the last gets a quarter of the connect deadline, not
 * Node's 250 ms, which a far one does not answer in. With a source address only addresses of its family are tried.
 */
function dialOptions({ BANK_CONNECT_TIMEOUT_MS: timeoutMs, EGRESS_LOCAL_ADDRESS: localAddress }: Settings) {
  return {
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.round(timeoutMs / 4)),
    ...(localAddress !== undefined && { localAddress, family: isIP(localAddress) }),
  };
}
