import { connect, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Settings } from '../../src/config/settings.js';
import { createAuthority } from './authority.js';
import { startRawServer, startTlsServer, type RawServer } from './servers.js';

export interface Connect {
  /** The CONNECT and its header, as sent. */
  readonly head: string;
  readonly socket: Socket;
  /** Opens the tunnel, as a good proxy does. */
  tunnel(): void;
  /** Ends the TCP connection with RST. */
  reset(): void;
}

interface ConnectProxy extends RawServer {
  /** `http://127.0.0.1:port` or `https://localhost:port`. */
  readonly url: URL;
  /** The head of each CONNECT, oldest first. */
  readonly heads: string[];
  /** All that clients sent after it. */
  readonly tunnelled: Buffer[];
  /** Subjects of the certificates that clients showed, null for none; https only. */
  readonly clientCertificates: (string | null)[];
  /** The clients' addresses. */
  readonly from: string[];
}

interface ConnectProxyOptions {
  /** Makes it an https proxy. */
  readonly tls?: TlsOptions;
  /** Instead of `tunnel`. */
  readonly onConnect?: (connect: Connect) => void;
  /** When the client is there, before it has said anything. */
  readonly onClient?: (socket: Socket) => void;
}

/** A CONNECT proxy that tunnels, or does what a test says. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const heads: string[] = [];
  const tunnelled: Buffer[] = [];
  const clientCertificates: (string | null)[] = [];
  const from: string[] = [];
  const onClient = (socket: Socket) => {
    from.push(socket.remoteAddress ?? '');
    options.onClient?.(socket);
    let head = '';
    const onData = (chunk: Buffer) => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.removeListener('data', onData);
      heads.push(head);
      // read on, so that the end of the client is seen
      socket.resume();
      const tunnel = () => openTunnel(socket, head, (bytes) => tunnelled.push(bytes));
      const reset = () => void rawOf(socket).resetAndDestroy();
      (options.onConnect ?? ((connect) => connect.tunnel()))({ head, socket, tunnel, reset });
    };
    socket.on('data', onData);
  };
  const rawOf = (socket: Socket) => [...server.sockets].find((raw) => raw.remotePort === socket.remotePort) ?? socket;
  const server: RawServer = options.tls
    ? await startTlsServer(options.tls, (socket) => {
        const subject = socket.getPeerCertificate().subject as { CN?: string } | undefined;
        clientCertificates.push(subject?.CN ?? null);
        onClient(socket);
      })
    : await startRawServer(onClient);
  const url = new URL(options.tls ? `https://localhost:${server.port}` : `http://127.0.0.1:${server.port}`);
  return Object.assign(Object.create(server) as RawServer, { url, heads, tunnelled, clientCertificates, from });
}

function openTunnel(client: Socket, head: string, onBytes: (bytes: Buffer) => void): void {
  const [, host = '', port = ''] = /^CONNECT \[?([^ \]]+?)\]?:(\d+) /.exec(head) ?? [];
  client.pause();
  const bank = connect(Number(port), host);
  bank.on('connect', () => {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.on('data', onBytes);
    client.pipe(bank).pipe(client);
    client.resume();
  });
  bank.on('error', () => client.destroy());
  client.on('error', () => bank.destroy());
  client.on('close', () => bank.destroy());
  bank.on('close', () => client.destroy());
}

/** The same address with credentials, percent-encoded. */
export function withCredentials(proxy: URL, user: string, password: string): URL {
  const encode = (text: string) => encodeURIComponent(text);
  return new URL(`${proxy.protocol}//${encode(user)}:${encode(password)}@${proxy.host}`);
}

/** The ways to the bank. */
export const ROUTES = ['direct', 'http proxy', 'https proxy'] as const;

interface Route {
  /** Started for a direct route too, and then sees nothing. */
  readonly proxy: ConnectProxy;
  /** What makes egress go this way. */
  readonly settings: Pick<Settings, 'EGRESS_PROXY_URL' | 'EGRESS_PROXY_CA_FILE'>;
}

/** A way to the bank, with a CONNECT proxy of its own; an https one shows a certificate for localhost. */
export async function startRoute(kind: (typeof ROUTES)[number], options: ConnectProxyOptions = {}): Promise<Route> {
  if (kind !== 'https proxy') {
    const proxy = await startConnectProxy(options);
    return {
      proxy,
      settings: { EGRESS_PROXY_URL: kind === 'direct' ? null : proxy.url, EGRESS_PROXY_CA_FILE: undefined },
    };
  }
  const authority = createAuthority('Proxy CA');
  const proxy = await startConnectProxy({ ...options, tls: { ...authority.server(['localhost']), ...options.tls } });
  return { proxy, settings: { EGRESS_PROXY_URL: proxy.url, EGRESS_PROXY_CA_FILE: authority.file } };
}
