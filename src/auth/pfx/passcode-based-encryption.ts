import { createDecipheriv, createHmac, getCipherInfo, pbkdf2Sync } from 'node:crypto';
import forge from 'node-forge';
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

/** A file names its own number of rounds, and a native derivation cannot be interrupted. GnuTLS writes 600 000. */
const MAX_ROUNDS = 10_000_000;
/** Length of the longest digest. */
const MAX_KEY_BYTES = 64;
/** Shorter keys must be rejected (RFC 9579, 6): with a key of one byte, a forged file fits one passcode in 256. */
const PBMAC1_MIN_KEY_BYTES = 20;

/** Converts any PFX that openssl can read (with its legacy ciphers) to AES-256 with a SHA-256 MAC. */
export const EXPORT_AGAIN =
  'openssl pkcs12 -legacy -in old.pfx -nodes -out tmp.pem && openssl pkcs12 -export -in tmp.pem -out new.pfx ' +
  '-keypbe AES-256-CBC -certpbe AES-256-CBC -macalg SHA256 && rm tmp.pem';

/** The passcode as text; null stands for no bytes, not even the final zeros of RFC 7292, B.1. */
export type Passcode = string | null;

/**
 * The passcodes that programs are known to make of one, the standard one first: an empty one is two zero bytes or none, and
 * OpenSSL before 1.1.0 made one UTF-16 unit of each byte.
 */
export function toPasscodes(passcode: string): Passcode[] {
  const other = passcode === '' ? null : Buffer.from(passcode, 'utf8').toString('latin1');
  return other === passcode ? [passcode] : [passcode, other];
}

/** The MAC over the contents, which only the right passcode reproduces. */
type Mac = (contents: Buffer, passcode: Passcode) => boolean;

/** Reads MacData: an HMAC by RFC 7292, 4, or PBMAC1 (RFC 9579). @throws CertificateUnreadable, Error */
export function toMac(macData: Asn1): Mac {
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
    return (contents, passcode) => isExpected(hash, derive('mac', passcode, expected.length), contents);
  }
  const [derivation, scheme] = childrenOf(parameters);
  const hash = toHash(toAlgorithm(scheme).oid);
  const { derive, keyLength } = toPbkdf2(derivation);
  if (keyLength < PBMAC1_MIN_KEY_BYTES || keyLength > MAX_KEY_BYTES)
    throw new Error('the MAC key is too short or too long');
  return (contents, passcode) => isExpected(hash, derive(passcode, keyLength), contents);
}

/** Deciphers with a passcode. @throws Error on wrong padding, which a wrong passcode nearly always produces */
type Decrypt = (ciphertext: Buffer, passcode: Passcode) => Buffer;

/** PBES2 (RFC 8018, 6.2) or one of PKCS#12's own schemes. @throws CertificateUnreadable unknown-algorithm, Error */
export function toDecrypt(algorithm: Asn1 | undefined): Decrypt {
  const { oid, parameters } = toAlgorithm(algorithm);
  const [first, second] = childrenOf(parameters);
  if (oid === PBES2) {
    const cipher = toAlgorithm(second);
    // Node also finds a cipher by its object identifier
    const { name, keyLength = 0 } = getCipherInfo(cipher.oid) ?? refuseAlgorithm(`the cipher ${cipher.oid}`);
    if (!/^(aes-\d+|des-ede3)-cbc$/.test(name)) refuseAlgorithm(`the cipher ${name}`);
    const { derive } = toPbkdf2(first);
    const iv = octetsOf(cipher.parameters);
    return (input, passcode) => decipher(name, derive(passcode, keyLength), iv, input);
  }
  const { name, keyLength } = PKCS12_CIPHERS[oid] ?? refuseAlgorithm(`the algorithm ${oid}`);
  const derive = toPkcs12Derivation('sha1', octetsOf(first), countOf(second));
  return (input, passcode) => decipher(name, derive('key', passcode, keyLength), derive('iv', passcode, 8), input);
}

/** @throws CertificateUnreadable unknown-algorithm, with the command that converts the file */
function refuseAlgorithm(what: string): never {
  throw new CertificateUnreadable(
    'unknown-algorithm',
    `The PFX is protected with ${what}, which the gateway does not support.`,
    `Convert it: ${EXPORT_AGAIN}. Or use PEM files: BANK_CERT_FILE and BANK_KEY_FILE.`,
  );
}

/** An AlgorithmIdentifier (RFC 5280, 4.1.1.2) with its identifier in dotted form. */
function toAlgorithm(node: Asn1 | undefined): { oid: string; parameters: Asn1 | undefined } {
  const [oid, parameters] = childrenOf(node);
  return { oid: oidOf(oid), parameters };
}

/** The name of a hash, or of the hash of an HMAC (RFC 8018, B.1), that Node and node-forge share. */
function toHash(oid: string): string {
  const name = forge.pki.oids[oid]?.replace('hmacWith', '').toLowerCase() ?? '';
  return /^(md5|sha\d+)$/.test(name) ? name : refuseAlgorithm(`the hash ${oid}`);
}

/** PBKDF2 (RFC 8018, A.2); `keyLength` is the length that the file names, or 0. */
function toPbkdf2(node: Asn1 | undefined) {
  const { oid, parameters } = toAlgorithm(node);
  if (oid !== PBKDF2) refuseAlgorithm(`the key derivation ${oid}`);
  const [saltNode, roundsNode, ...rest] = childrenOf(parameters);
  const [salt, rounds] = [octetsOf(saltNode), countOf(roundsNode)];
  const keyLength = rest.find(isInteger);
  const prf = rest.find(isSequence);
  const hash = prf ? toHash(toAlgorithm(prf).oid) : 'sha1';
  assertRounds(rounds);
  return {
    keyLength: keyLength ? countOf(keyLength) : 0,
    derive: (passcode: Passcode, length: number) => pbkdf2Sync(passcode ?? '', salt, rounds, length, hash),
  };
}

/** Purposes of a derived key (RFC 7292, B.3). */
const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

// the published types leave it out
const { generatePkcs12Key } = (
  forge.pki as unknown as {
    pbe: {
      generatePkcs12Key(
        passcode: string | null,
        salt: forge.util.ByteStringBuffer,
        purpose: number,
        rounds: number,
        length: number,
        digest: forge.md.MessageDigest,
      ): forge.util.ByteStringBuffer;
    };
  }
).pbe;

/** The key derivation of RFC 7292, appendix B.2. */
function toPkcs12Derivation(hash: string, salt: Buffer, rounds: number) {
  assertRounds(rounds);
  return (purpose: keyof typeof PURPOSE, passcode: Passcode, length: number): Buffer => {
    const input = forge.util.createBuffer(salt.toString('latin1'));
    const digest = forge.md[hash as 'sha1'].create();
    const key = generatePkcs12Key(passcode, input, PURPOSE[purpose], rounds, length, digest);
    return Buffer.from(key.getBytes(), 'latin1');
  };
}

function assertRounds(rounds: number): void {
  if (rounds < 1 || rounds > MAX_ROUNDS) throw new Error(`${rounds} rounds of key derivation`);
}

/** OpenSSL 3 has RC2 (RFC 2268) only as a legacy cipher, so node-forge deciphers it. */
function decipher(name: string, key: Buffer, iv: Buffer, input: Buffer): Buffer {
  if (name !== 'rc2') {
    const cipher = createDecipheriv(name, key, iv);
    return Buffer.concat([cipher.update(input), cipher.final()]);
  }
  const cipher = forge.rc2.createDecryptionCipher(key.toString('latin1'), key.length * 8);
  cipher.start(iv.toString('latin1'));
  cipher.update(forge.util.createBuffer(input.toString('latin1')));
  if (!cipher.finish()) throw new Error('bad decrypt');
  return Buffer.from(cipher.output.getBytes(), 'latin1');
}
