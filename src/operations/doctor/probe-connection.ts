import type { X509Certificate } from 'node:crypto';
import { request as openRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import { BankUntrusted, CallFailed } from '../../egress/failures.js';
import type { Egress } from '../../egress/egress.js';
import { stageOf } from '../../egress/stage.js';
import type { GatewayError } from '../../errors/gateway-error.js';

/** One connection to a host of the bank. Collects facts until the handshake is done. */
export interface Probe {
  readonly route: Record<string, unknown>;
  readonly tls: Record<string, unknown>;
  /** The failure before the connection to the bank, or the tunnel through the proxy, was open. */
  readonly opened: Promise<GatewayError | null>;
  /** The failure of the connection or the handshake, or a refusal after the handshake. */
  readonly secured: Promise<GatewayError | null>;
}

/** Under TLS 1.3 a server refuses our certificate only after the handshake; its alert then follows within a round trip. */
const REFUSAL_WAIT_MS = 500;
const MAX_CERTIFICATES = 10;
const MAX_LENGTH = 500;

/** Facts of a connection, filled in as they become known. */
type Facts = Pick<Probe, 'route' | 'tls'>;

/** Opens a connection as every call does, sends nothing over it and closes it. */
export function probeConnection(egress: Egress, url: string): Probe {
  const facts: Facts = { route: {}, tls: {} };
  const first = openConnection(egress, url, facts);
  const secured = judge(egress, url, facts, first.ended);
  return { ...facts, opened: Promise.race([first.opened, secured]), secured };
}

/** The failure of a connection. If the bank closed it after the handshake, of another one: only twice in a row means a refusal. */
async function judge(
  egress: Egress,
  url: string,
  facts: Facts,
  ended: Connection['ended'],
): Promise<GatewayError | null> {
  const first = await ended;
  const failed = first?.closedUnanswered ? await openConnection(egress, url, facts).ended : first;
  if (failed === null) return null;
  const failure = egress.toError(failed, new URL(url).host);
  if (failure instanceof BankUntrusted) Object.assign(facts.tls, { serverChain: toChain(failure.server) });
  return failure;
}

interface Connection {
  /** Null once the connection to the bank, or the tunnel through the proxy, is open; pending if it never is. */
  readonly opened: Promise<null>;
  /** The failure of the connection; null once the handshake is done and nothing was refused. */
  readonly ended: Promise<CallFailed | null>;
}

/** Opens one connection, and closes it at its end. */
function openConnection(egress: Egress, url: string, { route, tls }: Facts): Connection {
  const opened = Promise.withResolvers<null>();
  const ended = Promise.withResolvers<CallFailed | null>();
  const { hostname, port } = new URL(url);
  const request = openRequest({
    agent: egress.agentFor(url),
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || 443,
    path: '/',
  });
  const end = (error: Error | null) => {
    ended.resolve(error && new CallFailed(error, null, false, stageOf(request.socket)));
    request.destroy();
  };
  request.on('error', end);
  request.on('socket', (socket) => {
    if (!(socket instanceof TLSSocket)) return;
    const onConnect = () => {
      const { localAddress: sourceAddress, remoteAddress, remotePort } = socket;
      const sourceAddressIs = 'the local address; behind a NAT or a proxy the bank sees another one';
      Object.assign(route, { remoteAddress, remotePort, sourceAddress, sourceAddressIs });
      opened.resolve(null);
    };
    if (socket.connecting) socket.once('connect', onConnect);
    // a socket that failed at once, for example because of a foreign source address, was never open
    else if (!socket.destroyed) onConnect();
    socket.once('secureConnect', () => {
      const tlsVersion = socket.getProtocol();
      const serverChain = toChain(socket.getPeerX509Certificate());
      Object.assign(tls, { tlsVersion, cipher: socket.getCipher().name, serverChain });
      const timer = setTimeout(end, tlsVersion === 'TLSv1.3' ? REFUSAL_WAIT_MS : 0, null);
      socket.once('close', () => clearTimeout(timer));
      socket.once('end', () => end(Object.assign(new Error('closed after the handshake'), { code: 'ECONNRESET' })));
    });
  });
  return { opened: opened.promise, ended: ended.promise };
}

/** The certificates of a server, its own first. */
function toChain(leaf: X509Certificate | undefined) {
  const chain = [];
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
const toLine = (text = ''): string => text.replaceAll('\n', ', ').slice(0, MAX_LENGTH);
