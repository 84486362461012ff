import { createDecipheriv } from 'node:crypto';
import { refuseAlgorithm, toAlgorithm, type Algorithm } from './algorithms.js';
import { childrenOf, countOf, octetsOf } from './asn1.js';
import type { KdfBudget } from './kdf-budget.js';
import { decryptRc2, rc4 } from './legacy-ciphers.js';
import type { PasscodeForm } from './passcode-forms.js';
import { toPbkdf } from './pbkdf.js';
import { derivePkcs12Key, type Pkcs12Purpose } from './pkcs12-kdf.js';

/** One way of encrypting by passcode, its parameters read. */
interface EncryptionScheme {
  readonly name: string;
  /** Broken or outdated: to be named in a warning. */
  readonly legacy: boolean;
  /** Throws on wrong padding, as a wrong passcode gives nearly always; PfxUnreadable by the budget. */
  decrypt(ciphertext: Buffer, form: PasscodeForm, budget: KdfBudget): Buffer;
}

const PBES2 = '1.2.840.113549.1.5.13';
const RC2_CBC = '1.2.840.113549.3.2';
/** RC2's "version" stands for its effective key bits (RFC 8018, B.2.3). */
const RC2_BITS: Readonly<Record<number, number>> = { 160: 40, 120: 64, 58: 128 };

const PBES2_CIPHERS: Readonly<Record<string, { name: string; keyLength: number; legacy?: true }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyLength: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyLength: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyLength: 32 },
  '1.2.392.200011.61.1.1.1.2': { name: 'camellia-128-cbc', keyLength: 16 },
  '1.2.392.200011.61.1.1.1.3': { name: 'camellia-192-cbc', keyLength: 24 },
  '1.2.392.200011.61.1.1.1.4': { name: 'camellia-256-cbc', keyLength: 32 },
  '1.2.410.200046.1.1.2': { name: 'aria-128-cbc', keyLength: 16 },
  '1.2.410.200046.1.1.7': { name: 'aria-192-cbc', keyLength: 24 },
  '1.2.410.200046.1.1.12': { name: 'aria-256-cbc', keyLength: 32 },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyLength: 24, legacy: true },
};

interface Pkcs12Cipher {
  readonly name: string;
  readonly keyLength: number;
  decrypt(key: Buffer, iv: () => Buffer, input: Buffer): Buffer;
}

/** RFC 7292, appendix C: all of them outdated. */
const PKCS12_CIPHERS: Readonly<Record<string, Pkcs12Cipher>> = {
  '1.2.840.113549.1.12.1.1': { name: 'PBE-SHA1-RC4-128', keyLength: 16, decrypt: (key, _, input) => rc4(key, input) },
  '1.2.840.113549.1.12.1.2': { name: 'PBE-SHA1-RC4-40', keyLength: 5, decrypt: (key, _, input) => rc4(key, input) },
  '1.2.840.113549.1.12.1.3': {
    name: 'PBE-SHA1-3DES',
    keyLength: 24,
    decrypt: (key, iv, input) => decipher('des-ede3-cbc', key, iv(), input),
  },
  '1.2.840.113549.1.12.1.4': {
    name: 'PBE-SHA1-2DES',
    keyLength: 16,
    decrypt: (key, iv, input) => decipher('des-ede3-cbc', Buffer.concat([key, key.subarray(0, 8)]), iv(), input),
  },
  '1.2.840.113549.1.12.1.5': {
    name: 'PBE-SHA1-RC2-128',
    keyLength: 16,
    decrypt: (key, iv, input) => decryptRc2(key, 128, iv(), input),
  },
  '1.2.840.113549.1.12.1.6': {
    name: 'PBE-SHA1-RC2-40',
    keyLength: 5,
    decrypt: (key, iv, input) => decryptRc2(key, 40, iv(), input),
  },
};

/** PBES2 or one of PKCS#12's own. Throws PfxUnreadable 'unknown-algorithm', Malformed. */
export function toEncryptionScheme(algorithm: Algorithm): EncryptionScheme {
  if (algorithm.oid === PBES2) return toPbes2(algorithm);
  const cipher = PKCS12_CIPHERS[algorithm.oid] ?? refuseAlgorithm(algorithm.oid, 'encrypted');
  return toPkcs12Scheme(cipher, algorithm);
}

/** PBES2 (RFC 8018, 6.2) with the CBC ciphers that are in use. */
function toPbes2({ parameters }: Algorithm): EncryptionScheme {
  const [kdfNode, cipherNode] = childrenOf(parameters);
  const cipher = toAlgorithm(cipherNode);
  if (cipher.oid === RC2_CBC) return toPbes2Rc2(toAlgorithm(kdfNode), cipher);
  const known = PBES2_CIPHERS[cipher.oid] ?? refuseAlgorithm(cipher.oid, 'encrypted');
  const kdf = toPbkdf(toAlgorithm(kdfNode));
  const iv = octetsOf(cipher.parameters);
  return {
    name: `PBES2 ${known.name.toUpperCase()}`,
    legacy: known.legacy === true,
    decrypt: (ciphertext, form, budget) =>
      decipher(known.name, kdf.derive(form.raw, known.keyLength, budget), iv, ciphertext),
  };
}

function toPbes2Rc2(kdfAlgorithm: Algorithm, { oid, parameters }: Algorithm): EncryptionScheme {
  const [version, iv] = childrenOf(parameters);
  const bits = RC2_BITS[countOf(version)] ?? refuseAlgorithm(oid, 'encrypted');
  const kdf = toPbkdf(kdfAlgorithm);
  return {
    name: `PBES2 RC2-${bits}-CBC`,
    legacy: true,
    decrypt(ciphertext, form, budget) {
      const key = kdf.derive(form.raw, Math.min(kdf.ownLength ?? bits / 8, 128), budget);
      return decryptRc2(key, bits, octetsOf(iv), ciphertext);
    },
  };
}

function toPkcs12Scheme({ name, keyLength, decrypt }: Pkcs12Cipher, { parameters }: Algorithm): EncryptionScheme {
  const [salt, rounds] = childrenOf(parameters);
  const derivation = { hashName: 'sha1', salt: octetsOf(salt), rounds: countOf(rounds) };
  return {
    name,
    legacy: true,
    decrypt(ciphertext, form, budget) {
      const derive = (purpose: Pkcs12Purpose, length: number): Buffer =>
        derivePkcs12Key(derivation, purpose, form.bmp, length, budget);
      return decrypt(derive('key', keyLength), () => derive('iv', 8), ciphertext);
    },
  };
}

function decipher(name: string, key: Buffer, iv: Buffer, input: Buffer): Buffer {
  const cipher = createDecipheriv(name, key, iv);
  return Buffer.concat([cipher.update(input), cipher.final()]);
}
