import { createHmac, timingSafeEqual } from 'node:crypto';
import { toAlgorithm, toDigestName, toHmacHash, type Algorithm } from './algorithms.js';
import { type Asn1, childrenOf, countOf, Malformed, octetsOf } from './asn1.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { derivePkcs12Key, toPbkdf2, type Pkcs12Derivation } from './key-derivation.js';
import type { Passcode } from './passcode.js';

const PBMAC1 = '1.2.840.113549.1.5.14';

/** Shorter keys must be rejected (RFC 9579, 6): with a key of one byte, a forged file fits one passcode in 256. */
const PBMAC1_MIN_KEY_BYTES = 20;

/** The MAC over the contents, which only the right passcode reproduces. */
export type Mac = (contents: Buffer, passcode: Passcode) => boolean;

/** Reads MacData: an HMAC by RFC 7292, 4, or PBMAC1 (RFC 9579). @throws CertificateUnreadable, Malformed */
export function toMac(macData: Asn1): Mac {
  const [digestInfo, saltNode, rounds] = childrenOf(macData);
  const [algorithmNode, digestNode] = childrenOf(digestInfo);
  const algorithm = toAlgorithm(algorithmNode);
  const expected = octetsOf(digestNode);
  if (algorithm.oid === PBMAC1) return toPbmac1(algorithm, expected);
  const digest = toDigestName(algorithm);
  const derivation: Pkcs12Derivation = {
    digest,
    salt: octetsOf(saltNode),
    rounds: rounds === undefined ? 1 : countOf(rounds),
  };
  if (expected.length > 64) throw new Malformed('a MAC is too long');
  return (contents, passcode) =>
    isMac(digest, derivePkcs12Key(derivation, 'mac', passcode, expected.length), contents, expected);
}

function toPbmac1({ parameters }: Algorithm, expected: Buffer): Mac {
  const [derivationNode, schemeNode] = childrenOf(parameters);
  const pbkdf2 = toPbkdf2(toAlgorithm(derivationNode));
  const hash = toHmacHash(toAlgorithm(schemeNode));
  const { keyLength } = pbkdf2;
  if (keyLength === undefined) throw new Malformed('PBMAC1 without a key length');
  if (keyLength < PBMAC1_MIN_KEY_BYTES) {
    throw new CertificateUnreadable(
      'damaged',
      `The MAC of the PFX has a key of ${keyLength} bytes; RFC 9579 asks for at least ${PBMAC1_MIN_KEY_BYTES}. ` +
        'Export it again, and check where this file comes from: it may be forged.',
    );
  }
  return (contents, passcode) => isMac(hash, pbkdf2.derive(passcode, keyLength), contents, expected);
}

function isMac(hash: string, key: Buffer, contents: Buffer, expected: Buffer): boolean {
  const actual = createHmac(hash, key).update(contents).digest();
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
