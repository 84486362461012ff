import { createDecipheriv, createHmac, getCipherInfo, hash as digestOf, pbkdf2 } from 'node:crypto';
import { setImmediate as yieldToCallers } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Asn1, childrenOf, countOf, isInteger, isSequence, octetsOf, oidOf } from './asn1.js';
import { CertificateUnreadable } from './certificate-unreadable.js';

const PBKDF2 = '1.2.840.113549.1.5.12';
const PBES2 = '1.2.840.113549.1.5.13';
const PBMAC1 = '1.2.840.113549.1.5.14';

/** RFC 7292, appendix C, without RC4. OpenSSL 1, macOS and older Windows and Java write the first and last. */
const PKCS12_CIPHERS: Readonly<Record<string, { readonly name: string; readonly keyLength: number }>> = {
  '1.2.840.113549.1.12.1.3': { name: 'des-ede3-cbc', keyLength: 24 },
  '1.2.840.113549.1.12.1.4': { name: 'des-ede-cbc', keyLength: 16 },
  '1.2.840.113549.1.12.1.5': { name: 'rc2', keyLength: 16 },
  '1.2.840.113549.1.12.1.6': { name: 'rc2', keyLength: 5 },
};

const HASHES: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.5': 'md5',
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
  // HMAC with each of these (RFC 8018, B.1)
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

const UNSUPPORTED: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.12.1.1': 'the cipher RC4-128',
  '1.2.840.113549.1.12.1.2': 'the cipher RC4-40',
  '1.2.840.113549.1.5.1': 'the cipher PBE-MD2-DES',
  '1.2.840.113549.1.5.3': 'the cipher PBE-MD5-DES',
  '1.2.840.113549.1.5.4': 'the cipher PBE-MD2-RC2',
  '1.2.840.113549.1.5.6': 'the cipher PBE-MD5-RC2',
  '1.2.840.113549.1.5.10': 'the cipher PBE-SHA1-DES',
  '1.2.840.113549.1.5.11': 'the cipher PBE-SHA1-RC2',
  '1.3.6.1.4.1.11591.4.11': 'the key derivation scrypt',
};

/** A file sets its own iteration count. GnuTLS writes 600 000. */
const MAX_ROUNDS = 1_000_000;
/** Iterations of PKCS#12's own key derivation in one time slice: about 10 ms. */
const ROUNDS_PER_SLICE = 10_000;
const pbkdf2InPool = promisify(pbkdf2);
/** The longest digest. */
const MAX_KEY_BYTES = 64;
/** Shorter keys must be rejected (RFC 9579, 6): with a key of one byte, a forged file fits one passcode in 256. */
const PBMAC1_MIN_KEY_BYTES = 20;

/** Converts any PFX that openssl can read (with its legacy ciphers) to AES-256 with a SHA-256 MAC. */
export const EXPORT_AGAIN =
  'openssl pkcs12 -legacy -in old.pfx -nodes -out tmp.pem && openssl pkcs12 -export -in tmp.pem -out new.pfx ' +
  '-keypbe AES-256-CBC -certpbe AES-256-CBC -macalg SHA256 && rm tmp.pem';

/** The passcode as a string; null means no bytes, not even the final zeros of RFC 7292, B.1. */
export type Passcode = string | null;

/**
 * The known encodings of a passcode, the standard one first. An empty passcode is two zero bytes or none; OpenSSL
 * before 1.1.0 turned each byte into one UTF-16 unit.
 */
export function toPasscodes(passcode: string): Passcode[] {
  const other = passcode === '' ? null : Buffer.from(passcode, 'utf8').toString('latin1');
  return other === passcode ? [passcode] : [passcode, other];
}

/** Checks a passcode by MacData: an HMAC (RFC 7292, 4) or PBMAC1 (RFC 9579). @throws CertificateUnreadable, Error */
export function toMac(macData: Asn1): (contents: Buffer, passcode: Passcode) => Promise<boolean> {
  const [digestInfo, salt, rounds] = childrenOf(macData);
  const [algorithm, digest] = childrenOf(digestInfo);
  const { oid, parameters } = toAlgorithm(algorithm);
  const expected = octetsOf(digest);
  if (expected.length > MAX_KEY_BYTES) throw new Error('a digest is too long');
  const isExpected = (hash: string, key: Buffer, contents: Buffer) =>
    createHmac(hash, key).update(contents).digest().equals(expected);
  if (oid !== PBMAC1) {
    const hash = toHash(oid);
    const derive = toPkcs12Derivation(hash, octetsOf(salt), rounds ? countOf(rounds) : 1);
    return async (contents, passcode) => isExpected(hash, await derive('mac', passcode, expected.length), contents);
  }
  const [derivation, scheme] = childrenOf(parameters);
  const hash = toHash(toAlgorithm(scheme).oid);
  const { derive, keyLength } = toPbkdf2(derivation);
  if (keyLength < PBMAC1_MIN_KEY_BYTES || keyLength > MAX_KEY_BYTES)
    throw new Error('the MAC key is too short or too long');
  return async (contents, passcode) => isExpected(hash, await derive(passcode, keyLength), contents);
}

/** The bytes of a passcode for PBKDF2: UTF-8, or Latin-1 as some programs on Windows write it. */
export type Encoding = 'utf8' | 'latin1';

/** The encoding counts only for PBES2. @throws Error on wrong padding, which a wrong passcode nearly always produces */
type Decrypt = (ciphertext: Buffer, passcode: Passcode, encoding: Encoding) => Promise<Buffer>;

/** PBES2 (RFC 8018, 6.2) or one of PKCS#12's own schemes. @throws CertificateUnreadable unknown-algorithm, Error */
export function toDecrypt(algorithm: Asn1 | undefined): Decrypt {
  const { oid, parameters } = toAlgorithm(algorithm);
  const [first, second] = childrenOf(parameters);
  if (oid === PBES2) {
    const cipher = toAlgorithm(second);
    // Node also finds a cipher by its object identifier
    const { name, keyLength = 0 } = getCipherInfo(cipher.oid) ?? rejectAlgorithm(`the cipher ${cipher.oid}`);
    if (!/^(aes-\d+|des-ede3)-cbc$/.test(name)) rejectAlgorithm(`the cipher ${name}`);
    const { derive } = toPbkdf2(first);
    const iv = octetsOf(cipher.parameters);
    return async (input, passcode, encoding) => decipher(name, await derive(passcode, keyLength, encoding), iv, input);
  }
  const { name, keyLength } = PKCS12_CIPHERS[oid] ?? rejectAlgorithm(UNSUPPORTED[oid] ?? `the algorithm ${oid}`);
  const derive = toPkcs12Derivation('sha1', octetsOf(first), countOf(second));
  return async (input, passcode) =>
    decipher(name, await derive('key', passcode, keyLength), await derive('iv', passcode, 8), input);
}

/** @throws CertificateUnreadable unknown-algorithm, with the command that converts the file */
function rejectAlgorithm(what: string): never {
  throw new CertificateUnreadable(
    'unknown-algorithm',
    `The PFX is protected with ${what}, which the gateway does not support.`,
    `Convert it: ${EXPORT_AGAIN}. Or use PEM files: BANK_CERT_FILE and BANK_KEY_FILE.`,
  );
}

/** An AlgorithmIdentifier (RFC 5280, 4.1.1.2). */
function toAlgorithm(node: Asn1 | undefined): { oid: string; parameters: Asn1 | undefined } {
  const [oid, parameters] = childrenOf(node);
  return { oid: oidOf(oid), parameters };
}

const toHash = (oid: string): string => HASHES[oid] ?? rejectAlgorithm(`the hash ${oid}`);

/** PBKDF2 (RFC 8018, A.2); `keyLength` is the length in the file, or 0. */
function toPbkdf2(node: Asn1 | undefined) {
  const { oid, parameters } = toAlgorithm(node);
  if (oid !== PBKDF2) rejectAlgorithm(UNSUPPORTED[oid] ?? `the key derivation ${oid}`);
  const [saltNode, roundsNode, ...rest] = childrenOf(parameters);
  const [salt, rounds] = [octetsOf(saltNode), countOf(roundsNode)];
  const keyLength = rest.find(isInteger);
  const prf = rest.find(isSequence);
  const hash = prf ? toHash(toAlgorithm(prf).oid) : 'sha1';
  assertRounds(rounds);
  return {
    keyLength: keyLength ? countOf(keyLength) : 0,
    derive: (passcode: Passcode, length: number, encoding: Encoding = 'utf8') =>
      pbkdf2InPool(Buffer.from(passcode ?? '', encoding), salt, rounds, length, hash),
  };
}

/** RFC 7292, B.3. */
const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

/** The key derivation of RFC 7292, appendix B.2. Node has none, so this one yields to callers between time slices. */
function toPkcs12Derivation(hash: string, salt: Buffer, rounds: number) {
  assertRounds(rounds);
  const block = hash === 'sha384' || hash === 'sha512' ? 128 : 64;
  return async (purpose: keyof typeof PURPOSE, passcode: Passcode, length: number): Promise<Buffer> => {
    const input = Buffer.concat([repeat(salt, block), repeat(toBytes(passcode), block)]);
    const derived: Buffer[] = [];
    for (let left = length; left > 0; left -= derived.at(-1)?.length ?? left) {
      let digest = digestOf(hash, Buffer.concat([Buffer.alloc(block, PURPOSE[purpose]), input]), 'buffer');
      for (let round = 1; round < rounds; round++) {
        digest = digestOf(hash, digest, 'buffer');
        if (round % ROUNDS_PER_SLICE === 0) await yieldToCallers();
      }
      derived.push(digest);
      addToBlocks(input, repeat(digest, block).subarray(0, block));
    }
    return Buffer.concat(derived, length);
  };
}

/** UTF-16BE with two final zeros. */
const toBytes = (passcode: Passcode): Buffer =>
  passcode === null ? Buffer.alloc(0) : Buffer.from(`${passcode}\0`, 'utf16le').swap16();

/** Repeats the bytes up to a multiple of the block length. */
const repeat = (bytes: Buffer, block: number): Buffer =>
  bytes.length === 0 ? bytes : Buffer.alloc(Math.ceil(bytes.length / block) * block, bytes);

/** Adds `addend` + 1 to each block, which is one number of that length. */
function addToBlocks(blocks: Buffer, addend: Buffer): void {
  for (let start = 0; start < blocks.length; start += addend.length) {
    let carry = 1;
    for (let at = addend.length - 1; at >= 0; at--) {
      carry += blocks.readUInt8(start + at) + addend.readUInt8(at);
      blocks.writeUInt8(carry & 0xff, start + at);
      carry >>= 8;
    }
  }
}

function assertRounds(rounds: number): void {
  if (rounds < 1 || rounds > MAX_ROUNDS) throw new Error(`${rounds} rounds of key derivation`);
}

/** OpenSSL 3 has RC2 (RFC 2268) only as a legacy cipher, so node-forge decrypts it, loaded only then. */
async function decipher(name: string, key: Buffer, iv: Buffer, input: Buffer): Promise<Buffer> {
  if (name !== 'rc2') {
    const cipher = createDecipheriv(name, key, iv);
    return Buffer.concat([cipher.update(input), cipher.final()]);
  }
  const { default: forge } = await import('node-forge');
  const cipher = forge.rc2.createDecryptionCipher(key.toString('latin1'), key.length * 8);
  cipher.start(iv.toString('latin1'));
  cipher.update(forge.util.createBuffer(input.toString('latin1')));
  if (!cipher.finish()) throw new Error('bad decrypt');
  return Buffer.from(cipher.output.getBytes(), 'latin1');
}
