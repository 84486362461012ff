import { createHmac, timingSafeEqual } from 'node:crypto';
import { toAlgorithm, toDigestName, toHmacHash, type Algorithm } from './algorithms.js';
import { type Asn1, childrenOf, countOf, Malformed, octetsOf } from './asn1.js';
import { derivePkcs12Key } from './derive-pkcs12-key.js';
import type { Effort } from './effort.js';
import type { PasscodeForm } from './passcode-forms.js';
import { toPbkdf } from './pbkdf.js';

const PBMAC1 = '1.2.840.113549.1.5.14';

/** The MAC over the contents, which only the right passcode reproduces. */
export interface Seal {
  /** A name when the hash is outdated. SHA-1 is not: an HMAC with it is sound, and Windows writes it by default. */
  legacyName: string | undefined;
  fits(contents: Buffer, form: PasscodeForm, effort: Effort): boolean;
}

/** Reads MacData: HMAC by PKCS#12's own derivation (RFC 7292) or PBMAC1 (RFC 9579). Throws PfxUnreadable, Malformed. */
export function toSeal(macData: Asn1): Seal {
  const [digestInfo, salt, rounds] = childrenOf(macData);
  const [algorithmNode, digest] = childrenOf(digestInfo);
  const algorithm = toAlgorithm(algorithmNode);
  const expected = octetsOf(digest);
  if (algorithm.oid === PBMAC1) return toPbmac1(algorithm, expected);

  const hashName = toDigestName(algorithm);
  const derivation = { hashName, salt: octetsOf(salt), rounds: rounds === undefined ? 1 : countOf(rounds) };
  return {
    legacyName: hashName === 'md5' ? 'an MD5 MAC' : undefined,
    fits(contents, form, effort) {
      const key = derivePkcs12Key(derivation, 'mac', form.bmp, expected.length, effort);
      return isSame(createHmac(hashName, key).update(contents).digest(), expected);
    },
  };
}

function toPbmac1({ parameters }: Algorithm, expected: Buffer): Seal {
  const [kdfNode, schemeNode] = childrenOf(parameters);
  const kdf = toPbkdf(toAlgorithm(kdfNode));
  const hashName = toHmacHash(toAlgorithm(schemeNode));
  const { ownLength } = kdf;
  if (ownLength === undefined || ownLength < 1 || ownLength > 512) throw new Malformed('PBMAC1 without a key length');
  return {
    legacyName: undefined,
    fits(contents, form, effort) {
      const key = kdf.derive(form.raw, ownLength, effort);
      return isSame(createHmac(hashName, key).update(contents).digest(), expected);
    },
  };
}

function isSame(made: Buffer, expected: Buffer): boolean {
  return made.length === expected.length && timingSafeEqual(made, expected);
}
