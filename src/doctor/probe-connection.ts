import type { X509Certificate } from 'node:crypto';
import { request as openRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import { BankUntrusted } from '../egress/agents.js';
import type { Egress } from '../egress/egress.js';
import { ProxyRefused } from '../egress/open-tunnel.js';
import { CallFailed } from '../egress/wire-client.js';
import type { GatewayError } from '../problems/gateway-error.js';
import type { BankHost } from './hosts.js';

/** A connection until it was established or failed. */
export interface Connection {
  readonly host: BankHost;
  /** True if the connection to the bank, or the tunnel through the proxy, was open. */
  reached: boolean;
  localAddress?: string | undefined;
  /** The other end of the connection: the bank, or the proxy. */
  remoteAddress?: string;
  remotePort?: number;
  /** Status of the proxy's response to CONNECT. */
  proxyStatus?: number | undefined;
  tlsVersion?: string;
  cipher?: string;
  /** The server's certificates, its own first; none before it has shown them. */
  serverChain: readonly ServerCertificate[];
  /** Time until the connection was open or failed, ms. */
  transportMs: number;
  /** Time from then until the handshake finished or failed, ms. */
  tlsMs: number;
  failure: GatewayError | null;
}

/** A certificate of a server as the doctor shows it. */
interface ServerCertificate {
  readonly subject: string;
  readonly issuer: string;
  /** ISO 8601. */
  readonly validFrom: string;
  readonly validTo: string;
  /** Names in subjectAltName: "DNS:bank.example, IP Address:192.0.2.1". */
  readonly names: string;
}

/** Under TLS 1.3 a server refuses our certificate only after the handshake; its alert then follows within a round trip. */
const REFUSAL_WAIT_MS = 500;
const MAX_CERTIFICATES = 10;
const MAX_LENGTH = 500;

/** Opens one connection as every call does, sends nothing over it and closes it. */
export async function probeConnection(egress: Egress, host: BankHost): Promise<Connection> {
  const connection: Connection = { host, reached: false, serverChain: [], transportMs: 0, tlsMs: 0, failure: null };
  try {
    await open(egress, connection);
  } catch (error) {
    const failure = egress.toError(new CallFailed(error), host.address);
    if (failure instanceof BankUntrusted) connection.serverChain = toChain(failure.server);
    if (failure instanceof ProxyRefused) connection.proxyStatus ??= failure.proxyStatus;
    connection.failure = failure;
  }
  return connection;
}

async function open(egress: Egress, connection: Connection): Promise<void> {
  const { url, proxy } = connection.host;
  const { hostname, port } = new URL(url);
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = openRequest({
    agent: egress.agentFor(url),
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || 443,
    path: '/',
  });
  let timer: NodeJS.Timeout | undefined;
  request.on('error', reject);
  request.on('socket', (socket) => {
    if (!(socket instanceof TLSSocket)) return;
    const onConnect = () => {
      const { localAddress, remoteAddress, remotePort } = socket;
      Object.assign(connection, { reached: true, transportMs: since(), localAddress, remoteAddress, remotePort });
      if (proxy) connection.proxyStatus = 200;
    };
    if (socket.connecting) socket.once('connect', onConnect);
    // one that failed at once, as with a source address that is not ours, never stood
    else if (!socket.destroyed) onConnect();
    socket.once('secureConnect', () => {
      const tlsVersion = socket.getProtocol() ?? undefined;
      Object.assign(connection, { tlsVersion, cipher: socket.getCipher().name });
      connection.serverChain = toChain(socket.getPeerX509Certificate());
      connection.tlsMs = since() - connection.transportMs;
      timer = setTimeout(resolve, tlsVersion === 'TLSv1.3' ? REFUSAL_WAIT_MS : 0);
      socket.once('end', () => reject(Object.assign(new Error('closed after the handshake'), { code: 'ECONNRESET' })));
    });
  });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    if (!connection.reached) connection.transportMs = since();
    else connection.tlsMs ||= since() - connection.transportMs;
    request.on('error', () => undefined);
    request.destroy();
  }
}

function toChain(leaf: X509Certificate | undefined): ServerCertificate[] {
  const chain: ServerCertificate[] = [];
  for (let next = leaf; next && chain.length < MAX_CERTIFICATES; next = next.issuerCertificate) {
    chain.push({
      subject: toLine(next.subject),
      issuer: toLine(next.issuer),
      validFrom: next.validFromDate.toISOString(),
      validTo: next.validToDate.toISOString(),
      names: toLine(next.subjectAltName),
    });
  }
  return chain;
}

/** A name in a certificate, which may contain anything, on one short line. */
export const toLine = (text = ''): string => text.replaceAll('\n', ', ').slice(0, MAX_LENGTH);
