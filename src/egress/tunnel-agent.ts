import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import net from 'node:net';
import tls from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { ConnectFailure } from './connect-failure.js';
import { bankTlsOptions, type AgentOptions } from './direct-agent.js';
import type { ClientTls } from './client-tls.js';
import { secureInTime } from './secure-in-time.js';

/** What a proxy may send before the tunnel stands. */
const MAX_CONNECT_ANSWER_BYTES = 65_536;

/**
 * Connections to the bank through a CONNECT proxy. https-proxy-agent does the talking; around it stands what it leaves
 * open: our certificate goes to the bank and never to the proxy, an answer other than a tunnel is an error and never
 * the bank's, one deadline spans proxy, tunnel and TLS, an abandoned attempt leaves no socket, a flood is cut off, and
 * TLS sessions are resumed.
 */
export class TunnelAgent extends HttpsProxyAgent<string> {
  readonly #tls: ReturnType<typeof bankTlsOptions>;
  readonly #connectTimeoutMs: number;
  readonly #sessions = new Map<string, Buffer>();

  constructor(proxy: URL, clientTls: ClientTls, options: AgentOptions & { readonly proxyCa: string | null }) {
    super(proxy.href, {
      keepAlive: true,
      scheduling: 'lifo',
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
      ...(options.proxyCa !== null && { ca: options.proxyCa }),
      ...(options.localAddress !== null && { localAddress: options.localAddress }),
    });
    this.#tls = bankTlsOptions(clientTls);
    this.#connectTimeoutMs = options.connectTimeoutMs;
  }

  override async connect(
    request: ClientRequest,
    options: Parameters<HttpsProxyAgent<string>['connect']>[1],
  ): Promise<tls.TLSSocket> {
    const abort = new AbortController();
    const started = performance.now();
    const deadline = setTimeout(() => {
      abort.abort(new ConnectFailure('proxy-timeout', `no tunnel within ${this.#connectTimeoutMs} ms`));
    }, this.#connectTimeoutMs);
    const onClose = () => abort.abort(new ConnectFailure('proxy-unavailable', 'the call was given up'));
    request.once('close', onClose);
    let proxyStatus: number | undefined;
    request.once('proxyConnect', (answer: { statusCode: number }) => (proxyStatus = answer.statusCode));
    try {
      const key = `${options.host}:${options.port}`;
      const session = this.#sessions.get(key);
      const attempt = Object.assign(Object.create(this) as this, {
        connectOpts: { ...this.connectOpts, signal: abort.signal },
      });
      const connecting = watchAnswer(() =>
        super.connect.call(attempt, request, {
          ...options,
          ...this.#tls,
          ...(session && { session }),
        } as typeof options),
      );
      const socket = await Promise.race([connecting, rejectOn(abort.signal, connecting)]);
      if (!(socket instanceof tls.TLSSocket)) {
        socket.destroy();
        throw new ConnectFailure(
          'proxy-refused',
          'the proxy did not open a tunnel',
          proxyStatus === undefined ? {} : { proxyStatus },
        );
      }
      socket.on('session', (ticket: Buffer) => this.#sessions.set(key, ticket));
      socket.once('error', () => this.#sessions.delete(key));
      return secureInTime(socket, Math.max(1, this.#connectTimeoutMs - (performance.now() - started)));
    } catch (error) {
      if (abort.signal.aborted) throw abort.signal.reason;
      if (error instanceof ConnectFailure) throw error;
      throw new ConnectFailure('proxy-unavailable', 'the connection to the proxy failed', { cause: error });
    } finally {
      clearTimeout(deadline);
      request.removeListener('close', onClose);
    }
  }
}

/** Rejects when `signal` fires, and sees to it that what `connecting` gives afterwards is closed. */
function rejectOn(signal: AbortSignal, connecting: Promise<net.Socket>): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
      connecting.then((socket) => socket.destroy()).catch(() => undefined);
    });
  });
}

/**
 * Runs `connect` and counts what the proxy sends until it ends. The library opens its socket before its first await and
 * hands it out only at the end, so the runtime's own announcement of new sockets is what leads to it.
 */
async function watchAnswer(connect: () => Promise<net.Socket>): Promise<net.Socket> {
  let opened: net.Socket | undefined;
  const onSocket = (message: unknown) => (opened = (message as { socket: net.Socket }).socket);
  subscribe('net.client.socket', onSocket);
  let connecting: Promise<net.Socket>;
  try {
    connecting = connect();
  } finally {
    unsubscribe('net.client.socket', onSocket);
  }
  const watched = opened;
  if (!watched) return connecting;
  const timer = setInterval(() => {
    if (watched.bytesRead > MAX_CONNECT_ANSWER_BYTES) {
      watched.destroy(
        new ConnectFailure('proxy-refused', `the answer of the proxy is longer than ${MAX_CONNECT_ANSWER_BYTES} bytes`),
      );
    }
  }, 5);
  try {
    return await connecting;
  } finally {
    clearInterval(timer);
  }
}
