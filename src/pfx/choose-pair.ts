import type { KeyObject, X509Certificate } from 'node:crypto';
import { nameAlgorithm, toAlgorithm } from './algorithms.js';
import { childrenOf, isContextTag, parseAsn1 } from './asn1.js';
import { isValidAt } from './chain.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import type { PfxContents } from './read-pfx.js';
import { EXPORT_AGAIN_ON_WINDOWS, PFX_FROM_PEM } from './remedy.js';

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';

interface Pair {
  readonly key: KeyObject;
  readonly leaf: X509Certificate;
}

/**
 * The key and certificate to identify with, out of all that belong together: one that allows client authentication,
 * then one that is valid at `now`, then the one that ends last. Throws PfxUnreadable.
 */
export function choosePair({ keys, certificates }: PfxContents, now: Date): { pair: Pair; outOf: number } {
  if (keys.length === 0) {
    throw new PfxUnreadable(
      'no-key',
      `The PFX holds no private key${certificates.length > 0 ? ', only certificates' : ''}. Export it with its key (on Windows tick "Yes, export the private key" or use ${EXPORT_AGAIN_ON_WINDOWS}), or: ${PFX_FROM_PEM}.`,
    );
  }
  if (certificates.length === 0) {
    throw new PfxUnreadable(
      'no-certificate',
      `The PFX holds a private key but no certificate. Put both in: ${PFX_FROM_PEM}.`,
    );
  }
  const leaves = distinct(certificates);
  const pairs = leaves.flatMap((leaf): Pair[] => {
    const key = keys.find((each) => hasReadableKey(leaf) && leaf.checkPrivateKey(each));
    return key === undefined ? [] : [{ key, leaf }];
  });
  const rank = ({ leaf }: Pair): number[] => [
    Number(allowsClientAuth(leaf)),
    Number(isValidAt(leaf, now)),
    Number(!leaf.ca),
    leaf.validToDate.getTime(),
  ];
  const [best] = pairs.toSorted((one, other) => compare(rank(other), rank(one)));
  if (best === undefined) {
    const unreadable = leaves.find((leaf) => !hasReadableKey(leaf));
    if (unreadable !== undefined) throw toUnreadableKey(unreadable);
    throw new PfxUnreadable(
      'key-mismatch',
      `The private key in the PFX belongs to none of its certificates. Put the right two together: ${PFX_FROM_PEM}.`,
    );
  }
  return { pair: best, outOf: pairs.length };
}

function hasReadableKey(certificate: X509Certificate): boolean {
  try {
    return certificate.publicKey !== undefined;
  } catch {
    return false;
  }
}

function toUnreadableKey(certificate: X509Certificate): PfxUnreadable {
  // a damaged name may hold anything, and this is one line of a log
  const subject = toDistinguishedName(certificate.subject)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 200);
  return new PfxUnreadable(
    'unknown-algorithm',
    `The PFX was opened, but OpenSSL cannot read the public key of its certificate, ${subject} (${publicKeyAlgorithm(certificate).slice(0, 60)}), so it cannot be used for TLS. Ask the bank for a certificate with an RSA or EC key.`,
  );
}

/** The algorithm of subjectPublicKeyInfo (RFC 5280, 4.1), the field after version, serial number … subject. */
function publicKeyAlgorithm({ raw }: X509Certificate): string {
  try {
    const fields = childrenOf(childrenOf(parseAsn1(raw))[0]);
    const keyInfo = fields[isContextTag(fields[0], 0) ? 6 : 5];
    return nameAlgorithm(toAlgorithm(childrenOf(keyInfo)[0]).oid);
  } catch {
    // OpenSSL takes certificates whose bytes are not strictly DER
    return 'of an algorithm that cannot be read either';
  }
}

/** By the extended key usage; a certificate without one may serve for anything (RFC 5280, 4.2.1.12). */
export function allowsClientAuth(certificate: X509Certificate): boolean {
  // Typed as always there, but absent when the extension is.
  const usages: string[] | undefined = certificate.keyUsage;
  return usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_PURPOSE);
}

/** The certificates without repetitions, by their fingerprints. */
export function distinct(certificates: readonly X509Certificate[]): X509Certificate[] {
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate])).values()];
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/**
 * A name as node:crypto gives it (a line for each part, in the order of the certificate, escaped by RFC 2253) as one
 * line in the order of RFC 4514: the most specific part first, "CN=client, O=Company, C=LT".
 */
export function toDistinguishedName(lines: string | undefined): string {
  return (lines ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .reverse()
    .join(', ');
}
