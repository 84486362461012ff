import { createDecipheriv } from 'node:crypto';
import forge from 'node-forge';
import { refuseAlgorithm, toAlgorithm, type Algorithm } from './algorithms.js';
import { childrenOf, countOf, octetsOf } from './asn1.js';
import { derivePkcs12Key, toPbkdf2, type Pkcs12Derivation } from './key-derivation.js';
import type { Passcode } from './passcode.js';

/** One way to encrypt with a passcode, its parameters read. */
interface EncryptionScheme {
  readonly name: string;
  /** Outdated or broken: named in a warning. */
  readonly legacy: boolean;
  /** @throws Error on wrong padding, which a wrong passcode nearly always produces */
  decrypt(ciphertext: Buffer, passcode: Passcode): Buffer;
}

const PBES2 = '1.2.840.113549.1.5.13';

const PBES2_CIPHERS: Readonly<Record<string, { name: string; keyLength: number; legacy: boolean }>> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyLength: 16, legacy: false },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyLength: 24, legacy: false },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyLength: 32, legacy: false },
  '1.2.840.113549.3.7': { name: 'des-ede3-cbc', keyLength: 24, legacy: true },
};

interface Pkcs12Cipher {
  readonly name: string;
  readonly keyLength: number;
  decrypt(key: Buffer, iv: Buffer, input: Buffer): Buffer;
}

/** RFC 7292, appendix C, without RC4: all of them outdated. OpenSSL 1, macOS and older Windows and Java write the first and last. */
const PKCS12_CIPHERS: Readonly<Record<string, Pkcs12Cipher>> = {
  '1.2.840.113549.1.12.1.3': {
    name: 'PBE-SHA1-3DES',
    keyLength: 24,
    decrypt: (key, iv, input) => decipher('des-ede3-cbc', key, iv, input),
  },
  '1.2.840.113549.1.12.1.4': {
    name: 'PBE-SHA1-2DES',
    keyLength: 16,
    decrypt: (key, iv, input) => decipher('des-ede3-cbc', Buffer.concat([key, key.subarray(0, 8)]), iv, input),
  },
  '1.2.840.113549.1.12.1.5': {
    name: 'PBE-SHA1-RC2-128',
    keyLength: 16,
    decrypt: (key, iv, input) => decipherRc2(key, 128, iv, input),
  },
  '1.2.840.113549.1.12.1.6': {
    name: 'PBE-SHA1-RC2-40',
    keyLength: 5,
    decrypt: (key, iv, input) => decipherRc2(key, 40, iv, input),
  },
};

/** PBES2 or one of PKCS#12's own schemes. @throws CertificateUnreadable unknown-algorithm, Malformed */
export function toEncryptionScheme(algorithm: Algorithm): EncryptionScheme {
  if (algorithm.oid === PBES2) return toPbes2(algorithm);
  const cipher = PKCS12_CIPHERS[algorithm.oid] ?? refuseAlgorithm(`the algorithm ${algorithm.oid}`, 'encrypted');
  const [salt, rounds] = childrenOf(algorithm.parameters);
  const derivation: Pkcs12Derivation = { digest: 'sha1', salt: octetsOf(salt), rounds: countOf(rounds) };
  return {
    name: cipher.name,
    legacy: true,
    decrypt(ciphertext, passcode) {
      const key = derivePkcs12Key(derivation, 'key', passcode, cipher.keyLength);
      return cipher.decrypt(key, derivePkcs12Key(derivation, 'iv', passcode, 8), ciphertext);
    },
  };
}

/** PBES2 (RFC 8018, 6.2) with the CBC ciphers in use. */
function toPbes2({ parameters }: Algorithm): EncryptionScheme {
  const [derivationNode, cipherNode] = childrenOf(parameters);
  const { oid, parameters: ivNode } = toAlgorithm(cipherNode);
  const cipher = PBES2_CIPHERS[oid] ?? refuseAlgorithm(`the cipher ${oid}`, 'encrypted');
  const pbkdf2 = toPbkdf2(toAlgorithm(derivationNode));
  const iv = octetsOf(ivNode);
  return {
    name: `PBES2 ${cipher.name.toUpperCase()}`,
    legacy: cipher.legacy,
    decrypt: (ciphertext, passcode) => decipher(cipher.name, pbkdf2.derive(passcode, cipher.keyLength), iv, ciphertext),
  };
}

function decipher(name: string, key: Buffer, iv: Buffer, input: Buffer): Buffer {
  const cipher = createDecipheriv(name, key, iv);
  return Buffer.concat([cipher.update(input), cipher.final()]);
}

/** RC2-CBC (RFC 2268), which OpenSSL 3 only has as a legacy cipher. */
function decipherRc2(key: Buffer, effectiveBits: number, iv: Buffer, input: Buffer): Buffer {
  const cipher = forge.rc2.createDecryptionCipher(key.toString('latin1'), effectiveBits);
  cipher.start(iv.toString('latin1'));
  cipher.update(forge.util.createBuffer(input.toString('latin1')));
  if (!cipher.finish()) throw new Error('bad decrypt');
  return Buffer.from(cipher.output.getBytes(), 'latin1');
}
