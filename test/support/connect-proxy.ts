import { connect, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import type { Settings } from '../../src/config/settings.js';
import { createAuthority } from './authority.js';
import { startRawServer, startTlsServer, type RawServer } from './servers.js';

export interface Connect {
  /** The CONNECT request with its header, as received. */
  readonly head: string;
  readonly socket: Socket;
  /** Opens the tunnel, like a working proxy. */
  tunnel(): void;
  /** Ends the TCP connection with RST. */
  reset(): void;
}

interface ConnectProxy extends RawServer {
  /** `http://127.0.0.1:port` or `https://localhost:port`. */
  readonly url: URL;
  /** The head of each CONNECT request, oldest first. */
  readonly heads: string[];
  /** The bytes that clients sent through tunnels. */
  readonly tunnelled: Buffer[];
  /** Common names of the client certificates, null for none. Only for https. */
  readonly clientCertificates: (string | null)[];
  /** The clients' addresses. */
  readonly from: string[];
}

interface ConnectProxyOptions {
  /** Makes it an https proxy. */
  readonly tls?: TlsOptions;
  /** Replaces `tunnel`. */
  readonly onConnect?: (connect: Connect) => void;
  /** Called when a client connects, before it sends anything. */
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
      // keeps reading, to notice when the client disconnects
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

/** The routes to the bank. */
export const ROUTES = ['direct', 'http proxy', 'https proxy'] as const;

interface Route {
  /** Also started for a direct route, where it must receive nothing. */
  readonly proxy: ConnectProxy;
  /** The settings for this route. */
  readonly settings: Pick<Settings, 'EGRESS_PROXY_URL' | 'EGRESS_PROXY_CA_FILE'>;
}

/** A route to the bank with its own CONNECT proxy. An https proxy has a certificate for localhost. */
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
