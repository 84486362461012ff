import { createHmac, timingSafeEqual } from 'node:crypto';
import { toAlgorithm, toDigestName, toHmacHash, type Algorithm } from './algorithms.js';
import { type Asn1, childrenOf, countOf, Malformed, octetsOf } from './asn1.js';
import type { KdfBudget } from './kdf-budget.js';
import type { PasscodeForm } from './passcode-forms.js';
import { toPbkdf } from './pbkdf.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { derivePkcs12Key } from './pkcs12-kdf.js';

const PBMAC1 = '1.2.840.113549.1.5.14';

/** RFC 9579, 6: shorter keys are to be rejected; with one of a byte, a forged file fits one passcode in 256. */
const PBMAC1_MIN_KEY_BYTES = 20;
const PBMAC1_MAX_KEY_BYTES = 512;

/** The MAC over the contents, which only the right passcode reproduces. */
export interface Mac {
  /** A name when the hash is outdated. SHA-1 is not: an HMAC with it is sound, and Windows writes it by default. */
  readonly legacyName: string | undefined;
  /** Throws PfxUnreadable by the budget. */
  fits(contents: Buffer, form: PasscodeForm, budget: KdfBudget): boolean;
}

/** Reads MacData: HMAC by PKCS#12's own key derivation (RFC 7292, 4) or PBMAC1 (RFC 9579). Throws PfxUnreadable, Malformed. */
export function toMac(macData: Asn1): Mac {
  const [digestInfo, saltNode, rounds] = childrenOf(macData);
  const [algorithmNode, digest] = childrenOf(digestInfo);
  const algorithm = toAlgorithm(algorithmNode);
  const expected = octetsOf(digest);
  if (algorithm.oid === PBMAC1) return toPbmac1(algorithm, expected);

  const hashName = toDigestName(algorithm);
  const derivation = { hashName, salt: octetsOf(saltNode), rounds: rounds === undefined ? 1 : countOf(rounds) };
  return createMac(hashName, expected, (form, budget) =>
    derivePkcs12Key(derivation, 'mac', form.bmp, expected.length, budget),
  );
}

function toPbmac1({ parameters }: Algorithm, expected: Buffer): Mac {
  const [kdfNode, schemeNode] = childrenOf(parameters);
  const kdf = toPbkdf(toAlgorithm(kdfNode));
  const hashName = toHmacHash(toAlgorithm(schemeNode));
  const { ownLength } = kdf;
  if (ownLength === undefined || ownLength > PBMAC1_MAX_KEY_BYTES) throw new Malformed('PBMAC1 without a key length');
  if (ownLength < PBMAC1_MIN_KEY_BYTES) {
    throw new PfxUnreadable(
      'damaged',
      `The MAC of the PFX has a key of ${ownLength} bytes; fewer than ${PBMAC1_MIN_KEY_BYTES} protect nothing and are not accepted (RFC 9579). Export it again, and ask where this file comes from: it may be forged.`,
    );
  }
  return createMac(hashName, expected, (form, budget) => kdf.derive(form.raw, ownLength, budget));
}

function createMac(hashName: string, expected: Buffer, toKey: (form: PasscodeForm, budget: KdfBudget) => Buffer): Mac {
  return {
    legacyName: hashName === 'md5' ? 'an MD5 MAC' : undefined,
    fits(contents, form, budget) {
      const made = createHmac(hashName, toKey(form, budget)).update(contents).digest();
      return made.length === expected.length && timingSafeEqual(made, expected);
    },
  };
}
