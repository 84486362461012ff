import { createDecipheriv } from 'node:crypto';
import { refuseAlgorithm, toAlgorithm, type Algorithm } from './algorithms.js';
import { childrenOf, countOf, octetsOf } from './asn1.js';
import type { Pbe } from './pbe.js';
import { toPbkdf } from './pbkdf.js';
import { decryptRc2 } from './rc2.js';

export const PBES2 = '1.2.840.113549.1.5.13';
const RC2_CBC = '1.2.840.113549.3.2';
/** RC2's "version" stands for its effective key bits (RFC 8018, B.2.3). */
const RC2_BITS: Record<number, number> = { 160: 40, 120: 64, 58: 128 };

const CIPHERS: Record<string, { name: string; keyLength: number; legacy?: true }> = {
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

/** PBES2 (RFC 8018, 6.2) with the CBC ciphers that are in use. Throws PfxUnreadable 'unknown-algorithm', Malformed. */
export function toPbes2({ parameters }: Algorithm): Pbe {
  const [kdfNode, cipherNode] = childrenOf(parameters);
  const cipher = toAlgorithm(cipherNode);
  if (cipher.oid === RC2_CBC) return toPbes2Rc2(toAlgorithm(kdfNode), cipher);
  const known = CIPHERS[cipher.oid] ?? refuseAlgorithm(cipher.oid, 'encrypted');
  const kdf = toPbkdf(toAlgorithm(kdfNode));
  const iv = octetsOf(cipher.parameters);
  return {
    name: `PBES2 ${known.name.toUpperCase()}`,
    legacy: known.legacy === true,
    decrypt(ciphertext, form, effort) {
      const decipher = createDecipheriv(known.name, kdf.derive(form.raw, known.keyLength, effort), iv);
      return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
    },
  };
}

function toPbes2Rc2(kdfAlgorithm: Algorithm, { oid, parameters }: Algorithm): Pbe {
  const [version, iv] = childrenOf(parameters);
  const bits = RC2_BITS[countOf(version)] ?? refuseAlgorithm(oid, 'encrypted');
  const kdf = toPbkdf(kdfAlgorithm);
  return {
    name: `PBES2 RC2-${bits}-CBC`,
    legacy: true,
    decrypt(ciphertext, form, effort) {
      const key = kdf.derive(form.raw, Math.min(kdf.ownLength ?? bits / 8, 128), effort);
      return decryptRc2(key, bits, octetsOf(iv), ciphertext);
    },
  };
}
