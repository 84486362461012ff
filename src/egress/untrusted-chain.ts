import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { whyNotValid } from '../files/examine-certificates.js';
import { toDistinguishedName } from '../files/certificate-files.js';

const MAX_CERTIFICATES = 10;
const MAX_NAME_LENGTH = 200;

const chains = new WeakMap<Socket, readonly X509Certificate[]>();

/** Keeps the certificates of an untrusted server, which the runtime would discard with the socket. */
export function keepUntrustedChain(socket: TLSSocket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    // it may be called again later, when they are gone
    const leaf = socket.authorizationError ? socket.getPeerX509Certificate() : undefined;
    if (leaf) chains.set(socket, toChain(leaf));
    return destroy(error);
  };
}

/** The certificates of an untrusted server, its own first, then the issuers that it sent; empty without them. */
export const untrustedChainOf = (socket: Socket): readonly X509Certificate[] => chains.get(socket) ?? [];

/** A server's certificate, and the issuers that it sent. */
export function toChain(leaf: X509Certificate | undefined): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next = leaf; next && chain.length < MAX_CERTIFICATES; next = next.issuerCertificate) chain.push(next);
  return chain;
}

/** Which certificate of a chain is not valid by the clock of this machine, and the date. */
export function datesInWords(chain: readonly X509Certificate[]): string {
  const now = new Date();
  const wrong = chain.find((each) => whyNotValid(each, now) !== null);
  if (!wrong) return 'an issuer that it does not send is not valid; look at the CA file';
  const of = wrong === chain[0] ? 'it' : 'the certificate of its issuer';
  // a name may contain anything
  const name = toDistinguishedName(wrong.subject)
    .replace(/[\p{Cc}\p{Cf}]/gu, '?')
    .slice(0, MAX_NAME_LENGTH);
  return `${of} (${name}) ${whyNotValid(wrong, now)}`;
}
