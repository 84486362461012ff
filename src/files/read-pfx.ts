import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { type Asn1, childrenOf, isSequence, octetsOf, oidOf, parseAsn1 } from './asn1.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import type { KeysAndCertificates } from './certificate-files.js';
import { toDecrypt, toMac, toPasscodes, type Passcode } from './passcode-based-encryption.js';

const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
const KEY_BAG = '1.2.840.113549.1.12.10.1.1';
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
const CERT_BAG = '1.2.840.113549.1.12.10.1.3';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';

/**
 * All keys and certificates of a PKCS#12 file (RFC 7292), DER or BER, unchecked. Key derivation may take seconds, and
 * yields to callers. @throws CertificateUnreadable whatever the bytes are
 */
export async function readPfx(bytes: Buffer, passcode: string): Promise<KeysAndCertificates> {
  try {
    const [, authSafe, macData] = childrenOf(parseAsn1(bytes));
    const [type, wrapped] = childrenOf(authSafe);
    if (oidOf(type) !== DATA) throw new Error('not protected by a passcode');
    const contents = octetsOf(childrenOf(wrapped)[0]);
    return await readContents(contents, await choosePasscode(macData, contents, passcode));
  } catch (error) {
    if (error instanceof CertificateUnreadable) throw error;
    throw new CertificateUnreadable(
      'damaged',
      'The PFX is damaged or cut off.',
      'Copy the file again, in binary mode.',
      { cause: error },
    );
  }
}

/** The encoding of the passcode that reproduces the MAC; without a MAC, the standard one. */
async function choosePasscode(macData: Asn1 | undefined, contents: Buffer, passcode: string): Promise<Passcode> {
  if (!macData) return passcode;
  const isRight = toMac(macData);
  for (const each of toPasscodes(passcode)) if (await isRight(contents, each)) return each;
  throw wrongPasscode();
}

/**
 * The keys and certificates of an AuthenticatedSafe (RFC 7292, 4). CRLs, secrets, unknown bags and attributes are ignored:
 * which key belongs to which certificate follows from the keys themselves.
 */
async function readContents(contents: Buffer, passcode: Passcode): Promise<KeysAndCertificates> {
  const keys: KeyObject[] = [];
  const certificates: X509Certificate[] = [];
  const bags: Asn1[] = [];
  for (const info of childrenOf(parseAsn1(contents))) {
    bags.push(...childrenOf(await toSafeContents(info, passcode)));
  }
  for (const bag of bags) {
    const [idNode, wrapped] = childrenOf(bag);
    const id = oidOf(idNode);
    const value = childrenOf(wrapped)[0];
    if (id === KEY_BAG && value) keys.push(toKey(value));
    if (id === SHROUDED_KEY_BAG) {
      const [algorithm, ciphertext] = childrenOf(value);
      keys.push(toKey(await decrypt(algorithm, octetsOf(ciphertext), passcode)));
    }
    if (id === CERT_BAG) {
      const [type, der] = childrenOf(value);
      if (oidOf(type) === X509_CERTIFICATE) certificates.push(new X509Certificate(octetsOf(childrenOf(der)[0])));
    }
  }
  return { keys, certificates };
}

const toKey = ({ bytes }: Asn1): KeyObject => createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' });

async function toSafeContents(contentInfo: Asn1, passcode: Passcode): Promise<Asn1> {
  const [typeNode, wrapped] = childrenOf(contentInfo);
  const type = oidOf(typeNode);
  const value = childrenOf(wrapped)[0];
  if (type === DATA) return parseAsn1(octetsOf(value));
  if (type !== ENCRYPTED_DATA) throw new Error('not protected by a passcode');
  const [, algorithm, ciphertext] = childrenOf(childrenOf(value)[1]);
  return decrypt(algorithm, octetsOf(ciphertext), passcode);
}

/** The inner SEQUENCE. The MAC proves the passcode, but not the bytes that a cipher's key is from. */
async function decrypt(algorithm: Asn1 | undefined, ciphertext: Buffer, passcode: Passcode): Promise<Asn1> {
  const decipher = toDecrypt(algorithm);
  for (const encoding of ['utf8', 'latin1'] as const) {
    const decrypted = await decipher(ciphertext, passcode, encoding)
      .then(parseAsn1)
      .catch(() => undefined);
    if (decrypted && isSequence(decrypted)) return decrypted;
  }
  throw wrongPasscode();
}

function wrongPasscode(): CertificateUnreadable {
  return new CertificateUnreadable(
    'passcode',
    'The passcode of the PFX is wrong or missing, or the file is damaged.',
    'Check BANK_PFX_PASSCODE or BANK_PFX_PASSCODE_FILE; to try one: openssl pkcs12 -legacy -in client.pfx -noout.',
  );
}
