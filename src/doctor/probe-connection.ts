import type { X509Certificate } from 'node:crypto';
import { request as openRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import { ConnectFailure } from '../egress/connect-failure.js';
import type { Egress } from '../egress/egress.js';
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
    if (error instanceof ConnectFailure) {
      if (error.server) connection.serverChain = toChain(error.server);
      connection.proxyStatus ??= error.proxyStatus;
    }
    connection.failure = egress.toError(new CallFailed(error), host.target);
  }
  return connection;
}

async function open(egress: Egress, connection: Connection): Promise<void> {
  const url = new URL(connection.host.url);
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = openRequest({
    agent: egress.agentFor(connection.host.url),
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port || 443,
    path: '/',
  });
  let timer: NodeJS.Timeout | undefined;
  request.on('error', reject);
  request.on('socket', (socket) => {
    if (!(socket instanceof TLSSocket)) return;
    const onConnect = () => {
      connection.reached = true;
      connection.transportMs = since();
      if (connection.host.proxy) connection.proxyStatus = 200;
      const { localAddress, remoteAddress, remotePort } = socket;
      Object.assign(connection, { localAddress, remoteAddress, remotePort });
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
      subject: toPlain(next.subject),
      issuer: toPlain(next.issuer),
      validFrom: next.validFromDate.toISOString(),
      validTo: next.validToDate.toISOString(),
      names: toPlain(next.subjectAltName),
    });
  }
  return chain;
}

/** Anybody can put anything into a certificate: what is shown of it is short, on one line and moves no cursor. */
const toPlain = (text = '') =>
  text
    .replaceAll('\n', ', ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?')
    .slice(0, MAX_LENGTH);
