import { createDecipheriv } from 'node:crypto';
import type { Algorithm } from './algorithms.js';
import { childrenOf, countOf, octetsOf } from './asn1.js';
import { derivePkcs12Key, type Pkcs12Purpose } from './derive-pkcs12-key.js';
import type { Pbe } from './pbe.js';
import { decryptRc2 } from './rc2.js';
import { rc4 } from './rc4.js';

interface OwnCipher {
  name: string;
  keyLength: number;
  decrypt(key: Buffer, iv: () => Buffer, input: Buffer): Buffer;
}

const OWN_CIPHERS: Record<string, OwnCipher> = {
  '1.2.840.113549.1.12.1.1': { name: 'PBE-SHA1-RC4-128', keyLength: 16, decrypt: (key, _, input) => rc4(key, input) },
  '1.2.840.113549.1.12.1.2': { name: 'PBE-SHA1-RC4-40', keyLength: 5, decrypt: (key, _, input) => rc4(key, input) },
  '1.2.840.113549.1.12.1.3': { name: 'PBE-SHA1-3DES', keyLength: 24, decrypt: decrypt3Des },
  '1.2.840.113549.1.12.1.4': {
    name: 'PBE-SHA1-2DES',
    keyLength: 16,
    decrypt: (key, iv, input) => decrypt3Des(Buffer.concat([key, key.subarray(0, 8)]), iv, input),
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

function decrypt3Des(key: Buffer, iv: () => Buffer, input: Buffer): Buffer {
  const cipher = createDecipheriv('des-ede3-cbc', key, iv());
  return Buffer.concat([cipher.update(input), cipher.final()]);
}

/** The ciphers of RFC 7292, appendix C, all of them outdated; undefined for any other. Throws Malformed. */
export function toPkcs12Pbe({ oid, parameters }: Algorithm): Pbe | undefined {
  const own = OWN_CIPHERS[oid];
  if (own === undefined) return undefined;
  const [salt, rounds] = childrenOf(parameters);
  const derivation = { hashName: 'sha1', salt: octetsOf(salt), rounds: countOf(rounds) };
  return {
    name: own.name,
    legacy: true,
    decrypt(ciphertext, form, effort) {
      const derive = (purpose: Pkcs12Purpose, length: number): Buffer =>
        derivePkcs12Key(derivation, purpose, form.bmp, length, effort);
      return own.decrypt(derive('key', own.keyLength), () => derive('iv', 8), ciphertext);
    },
  };
}
