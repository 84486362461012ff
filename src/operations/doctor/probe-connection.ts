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

/**
 * Opens a connection as every call does, sends nothing over it and closes it. Opens another if the bank closes the first one
 * after the handshake: only twice in a row does that mean a refusal.
 */
export function probeConnection(egress: Egress, url: string): Probe {
  const opened = Promise.withResolvers<GatewayError | null>();
  const secured = Promise.withResolvers<GatewayError | null>();
  const probe = { route: {}, tls: {}, opened: opened.promise, secured: secured.promise };
  const { host } = new URL(url);
  const end = (failure: GatewayError | null) => {
    opened.resolve(failure);
    secured.resolve(failure);
  };
  const fail = (failed: CallFailed) => {
    const failure = egress.toError(failed, host);
    if (failure instanceof BankUntrusted) Object.assign(probe.tls, { serverChain: toChain(failure.server) });
    end(failure);
  };
  const onOpen = () => opened.resolve(null);
  openConnection(egress, url, probe, onOpen, (first) => {
    if (first === null) end(null);
    else if (!first.closedUnanswered) fail(first);
    else openConnection(egress, url, probe, onOpen, (second) => (second === null ? end(null) : fail(second)));
  });
  return probe;
}

/** One connection: notes its facts, and reports when it is open, and how it ended. */
function openConnection(
  egress: Egress,
  url: string,
  { route, tls }: Pick<Probe, 'route' | 'tls'>,
  onOpen: () => void,
  onEnd: (failed: CallFailed | null) => void,
): void {
  const { hostname, port } = new URL(url);
  const request = openRequest({
    agent: egress.agentFor(url),
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || 443,
    path: '/',
  });
  const end = (error: Error | null) => {
    onEnd(error && new CallFailed(error, null, false, stageOf(request.socket)));
    // what it ends with from now on is of no interest
    onEnd = () => undefined;
    request.destroy();
  };
  request.on('error', end);
  request.on('socket', (socket) => {
    if (!(socket instanceof TLSSocket)) return;
    const onConnect = () => {
      const { localAddress: sourceAddress, remoteAddress, remotePort } = socket;
      const sourceAddressIs = 'the local address; behind a NAT or a proxy the bank sees another one';
      Object.assign(route, { remoteAddress, remotePort, sourceAddress, sourceAddressIs });
      onOpen();
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
