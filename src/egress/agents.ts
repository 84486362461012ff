import type { Agent as HttpAgent, ClientRequest } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { callbackify } from 'node:util';
import { HttpsProxyAgent } from 'https-proxy-agent';
import type { Settings } from '../config/settings.js';
import { Connection, ConnectTimedOut, type Hello } from './connection.js';
import { openTcp, toHost, withoutFinalDot } from './dial.js';
import { openTunnel, type Proxy } from './open-tunnel.js';

/** Our side of TLS with the bank. A proxy never gets it. */
export interface ClientTls {
  /** PEM, PKCS#8, unencrypted. */
  readonly key: string;
  /** PEM, the leaf first, then its intermediates. */
  readonly cert: string;
  /** PEM of the only CA certificates trusted for the bank; null for the runtime's default ones. */
  readonly ca: string | null;
}

/** Options of a call for the agent, in addition to Node's. */
export interface CallOptions extends RequestOptions {
  /** Cancels opening a connection. Not Node's `signal`, which would stay attached to a socket that others use later. */
  readonly callSignal?: AbortSignal | undefined;
}

type Connect = (options: CallOptions) => Promise<TLSSocket>;

/** Idle connections are closed after 30 s: a firewall on the way could silently drop one, and a call over it would hang. */
const KEEP_ALIVE = { keepAlive: true, timeout: 30_000 };

/** The usual groups without the hybrid one of the runtime's default, whose key share makes the ClientHello two TCP segments long. */
const CLASSICAL_GROUPS = 'X25519:P-256:P-384:P-521';

/**
 * Creates an agent that keeps connections to one host of the bank. The connections and the last TLS session end with
 * it.
 * @param proxy null for direct connections
 */
export function createAgent(settings: Settings, tls: ClientTls, proxy: Proxy | null, hello: Hello): HttpAgent {
  const connectToBank = toConnect(settings, tls, proxy, hello);
  return proxy ? new TunnelAgent(proxy, connectToBank) : new DirectAgent(connectToBank);
}

class DirectAgent extends Agent {
  constructor(private readonly connectToBank: Connect) {
    super(KEEP_ALIVE);
    // a future Node may let NODE_USE_ENV_PROXY redirect every agent that leaves this open
    Object.assign(this.options, { proxyEnv: null });
  }

  override createConnection(
    options: CallOptions,
    callback: (error: Error | null, socket: Duplex) => void = () => undefined,
  ): undefined {
    callbackify(this.connectToBank)(options, callback);
  }
}

/**
 * The library keeps the connections. We open them ourselves, because the library would take any response of a proxy, of
 * any size, for the bank's.
 */
class TunnelAgent extends HttpsProxyAgent<string> {
  constructor(
    proxy: Proxy,
    private readonly connectToBank: Connect,
  ) {
    // the library writes the address that it is given to the debug output
    super(proxy.url.origin, KEEP_ALIVE);
    // HttpsProxyAgent clears them
    Object.assign(this.options, KEEP_ALIVE);
  }

  override connect(_request: ClientRequest, options: CallOptions): Promise<TLSSocket> {
    return this.connectToBank(options);
  }
}

/**
 * Returns a function that opens connections to one host, and resumes the last TLS session. One deadline spans DNS, TCP, proxy,
 * tunnel and TLS. It throws GatewayError as `openTcp` and `openTunnel`.
 */
function toConnect(settings: Settings, tls: ClientTls, proxy: Proxy | null, hello: Hello): Connect {
  const tlsOptions = toTlsOptions(tls, settings, hello);
  let lastSession: Buffer | undefined;
  return async (options) => {
    const deadline = AbortSignal.timeout(settings.BANK_CONNECT_TIMEOUT_MS);
    const signal = AbortSignal.any(options.callSignal ? [deadline, options.callSignal] : [deadline]);
    // before anything is awaited, so that a call over a fresh agent makes a full handshake
    const session = lastSession;
    const host = toHost({ hostname: String(options.host) });
    const address = withoutFinalDot(`${host.includes(':') ? `[${host}]` : host}:${options.port}`);
    const tcp = await (proxy
      ? openTunnel(proxy, address, settings, signal)
      : openTcp(host, Number(options.port), address, settings, signal));
    // with the host in the options, the certificate of a bank given by IP address is checked against that address
    const socket = connect({ ...options, ...tlsOptions, socket: tcp, session } as ConnectionOptions);
    // a session would push the ClientHello over one segment again
    if (hello === 'any') socket.on('session', (ticket: Buffer) => (lastSession = ticket));
    const route = {
      address,
      proxy: proxy && proxy.url.host,
      isClassical: hello === 'classical',
      mayResume: session !== undefined,
    };
    failWhenLate(new Connection(route, socket, tcp), socket, deadline);
    return socket;
  };
}

/** Ends a TLS handshake that misses the deadline. */
function failWhenLate({ route }: Connection, socket: TLSSocket, deadline: AbortSignal): void {
  const { address, proxy, isClassical } = route;
  const fail = () => {
    const groups = isClassical ? ', with classical key exchange groups either' : '';
    const opened = proxy === null ? 'TCP is connected' : `the egress proxy ${proxy} opened a tunnel`;
    const detail = `No TLS handshake with ${address} within BANK_CONNECT_TIMEOUT_MS, though ${opened}${groups}.`;
    socket.destroy(new ConnectTimedOut('bank-timeout', detail));
  };
  const stop = () => deadline.removeEventListener('abort', fail);
  deadline.addEventListener('abort', fail);
  socket.once('secureConnect', stop).once('close', stop);
}

/** Every certificate in BANK_CA_FILE is a trust anchor, even if it is not a root. */
function toTlsOptions(tls: ClientTls, { BANK_TLS_MAX_VERSION: maxVersion }: Settings, hello: Hello) {
  return {
    key: tls.key,
    cert: tls.cert,
    ...(tls.ca !== null && { ca: tls.ca, allowPartialTrustChain: true }),
    ...(hello === 'classical' && { ecdhCurve: CLASSICAL_GROUPS }),
    minVersion: 'TLSv1.2' as const,
    maxVersion: hello === 'TLS 1.2' ? ('TLSv1.2' as const) : (`TLSv${maxVersion}` as const),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  };
}
