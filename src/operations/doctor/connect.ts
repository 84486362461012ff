import { hash, type X509Certificate } from 'node:crypto';
import type { Agent } from 'node:http';
import { request as openRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import { toDistinguishedName } from '../../files/certificate-files.js';
import { CallFailed, connectionOf, toChain } from '../../egress/connection.js';
import { toHost } from '../../egress/dial.js';
import type { Egress } from '../../egress/egress.js';
import { toGatewayError, type GatewayError } from '../../errors/gateway-error.js';

export interface Handshake {
  readonly tls: TlsFacts;
  readonly failure: GatewayError | null;
}

/** As far as the handshake got. */
export interface TlsFacts {
  readonly tlsVersion?: string | null;
  readonly cipher?: string;
  readonly keyExchange?: string | undefined;
  readonly serverChain?: ReturnType<typeof describe>;
}

/** Under TLS 1.3, a server rejects our certificate only after the handshake; its alert follows within a round trip. */
const REJECTION_WAIT_MS = 500;
const MAX_LENGTH = 500;

/**
 * Opens a connection as every call does, with its retries, and closes it after the handshake. Resolves once TCP, or the
 * tunnel through the proxy, is open. @throws GatewayError
 */
export async function connect(egress: Egress, url: string) {
  const opened = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  let tls: TlsFacts = {};
  const onTls = (facts: TlsFacts) => (tls = facts);
  const attempt = (agent: Agent) => openConnection(agent, url, opened.resolve, onTls);
  const ended = egress.reach(url, new URL(url).host, attempt);
  const route = await Promise.race([opened.promise, ended.then(() => opened.promise)]);
  // ends with the handshake, or with a rejection after it, and never rejects
  const handshake: Promise<Handshake> = ended.then(() => null, toGatewayError).then((failure) => ({ tls, failure }));
  return { route, handshake };
}

/** @throws CallFailed */
function openConnection(
  agent: Agent,
  url: string,
  onOpen: (route: Readonly<Record<string, unknown>>) => void,
  onTls: (facts: TlsFacts) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = openRequest({ agent, host: toHost(new URL(url)), port: new URL(url).port || 443, path: '/' });
  const end = (error: Error | null) => {
    const connection = connectionOf(request.socket);
    if (connection?.isUntrusted) onTls({ serverChain: describe(connection.untrustedChain) });
    if (error) reject(new CallFailed(error, null, false, connection));
    else resolve();
    request.destroy();
  };
  request.on('error', end);
  request.on('socket', (socket) => {
    // TCP, or the tunnel, is open now
    if (!(socket instanceof TLSSocket)) return;
    const { localAddress: sourceAddress, remoteAddress, remotePort } = socket;
    const sourceAddressIs = 'the local address; behind a NAT or a proxy the bank sees another one';
    onOpen({ remoteAddress, remotePort, sourceAddress, sourceAddressIs });
    socket.once('secureConnect', () => {
      const tlsVersion = socket.getProtocol();
      const { isClassical } = connectionOf(socket)?.route ?? {};
      const keyExchange = isClassical ? 'classical groups only; the first handshake failed' : undefined;
      const serverChain = describe(toChain(socket.getPeerX509Certificate()));
      onTls({ tlsVersion, cipher: socket.getCipher().name, keyExchange, serverChain });
      const timer = setTimeout(end, tlsVersion === 'TLSv1.3' ? REJECTION_WAIT_MS : 0, null);
      socket.once('close', () => clearTimeout(timer));
      socket.once('end', () => end(Object.assign(new Error('closed after the handshake'), { code: 'ECONNRESET' })));
    });
  });
  return promise;
}

const describe = (chain: readonly X509Certificate[]) =>
  chain.map((each) => ({
    subject: toLine(toDistinguishedName(each.subject)),
    issuer: toLine(toDistinguishedName(each.issuer)),
    subjectKey: hash('sha256', each.publicKey.export({ type: 'spki', format: 'der' })),
    validFrom: each.validFromDate.toISOString(),
    validTo: each.validToDate.toISOString(),
    names: toLine(each.subjectAltName),
  }));

/** A name in a certificate, which may contain anything, on one short line. */
const toLine = (text = ''): string => text.replaceAll('\n', ', ').slice(0, MAX_LENGTH);
