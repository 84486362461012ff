import { createPrivateKey, type KeyObject } from 'node:crypto';
import { refuseAlgorithm, toAlgorithm } from './algorithms.js';
import { type Asn1, childrenOf, implicitOctetsOf, isSequence, octetsOf, oidOf, parseAsn1 } from './asn1.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import type { KeysAndCertificates } from './client-certificate.js';
import { toEncryptionScheme } from './encryption-scheme.js';
import { explainNotPfx } from './explain-not-pfx.js';
import { explainPasscode } from './explain-passcode.js';
import { toMac, type Mac } from './mac.js';
import { toEncodings, type Passcode } from './passcode.js';
import { EXPORT_AGAIN, EXPORT_AGAIN_ON_WINDOWS } from './remedy.js';
import { readSafeContents, type SafeBags } from './safe-contents.js';

const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';

/**
 * Opens a PKCS#12 file (RFC 7292), DER or BER, and returns all keys and certificates in it, none of them checked yet.
 * Key derivation may block for seconds: `openCertificate` runs it in a worker thread.
 * @throws CertificateUnreadable whatever the bytes are
 */
export function readPfx(bytes: Buffer, passcode: string): KeysAndCertificates {
  try {
    const refusal = explainNotPfx(bytes);
    if (refusal) throw refusal;
    return open(bytes, passcode);
  } catch (error) {
    if (error instanceof CertificateUnreadable) throw error;
    throw new CertificateUnreadable(
      'damaged',
      'The PFX is damaged: its structure is broken. Copy it again in binary mode, or export it again.',
      { cause: error },
    );
  }
}

function open(bytes: Buffer, passcode: string): KeysAndCertificates {
  const pfx = parsePfx(bytes);
  try {
    return readContents(pfx, passcode);
  } catch (error) {
    if (!(error instanceof CertificateUnreadable) || error.reason !== 'passcode') throw error;
    throw explainPasscode(error, bytes, passcode, (other) => {
      try {
        readContents(pfx, other);
        return true;
      } catch {
        return false;
      }
    });
  }
}

interface Pfx {
  /** The AuthenticatedSafe, which the MAC covers. */
  readonly contents: Buffer;
  readonly mac: Mac | null;
}

function parsePfx(bytes: Buffer): Pfx {
  const [, authSafe, macData] = childrenOf(parseAsn1(bytes));
  const [type, wrapped] = childrenOf(authSafe);
  if (oidOf(type) !== DATA) refuseAlgorithm('a public key instead of a passcode', 'protected');
  return { contents: octetsOf(childrenOf(wrapped)[0]), mac: macData ? toMac(macData) : null };
}

function readContents({ contents, mac }: Pfx, text: string): KeysAndCertificates {
  const encodings = toEncodings(text);
  const passcodes = mac ? encodings.filter((each) => mac(contents, each)) : encodings;
  if (passcodes.length === 0) {
    throw new CertificateUnreadable(
      'passcode',
      'The passcode of the PFX is wrong, or the file is damaged. Check BANK_PFX_PASSCODE; to try one: openssl pkcs12 -legacy -in client.pfx -noout.',
    );
  }
  const legacy = new Set<string>();
  const decrypt = (algorithm: Asn1 | undefined, ciphertext: Buffer) =>
    decryptWithAny(passcodes, algorithm, ciphertext, mac !== null, legacy);
  const bags: SafeBags = { keys: [], certificates: [], unreadableCertificates: 0 };
  for (const contentInfo of childrenOf(parseAsn1(contents))) {
    readSafeContents(toSafeContents(contentInfo, decrypt), decrypt, bags);
  }
  return {
    keys: toKeys(bags.keys),
    certificates: bags.certificates,
    warnings: toWarnings([...legacy], mac !== null, bags.unreadableCertificates),
  };
}

function toSafeContents(contentInfo: Asn1, decrypt: (algorithm: Asn1 | undefined, ciphertext: Buffer) => Asn1): Asn1 {
  const [typeNode, wrapped] = childrenOf(contentInfo);
  const type = oidOf(typeNode);
  const value = childrenOf(wrapped)[0];
  if (type === DATA) return parseAsn1(octetsOf(value));
  if (type !== ENCRYPTED_DATA) refuseAlgorithm('a public key instead of a passcode', 'encrypted');
  const [, algorithm, ciphertext] = childrenOf(childrenOf(value)[1]);
  return decrypt(algorithm, implicitOctetsOf(ciphertext, 0));
}

/** The SEQUENCE that was encrypted; the name of an outdated algorithm is added to `legacy`. */
function decryptWithAny(
  passcodes: readonly Passcode[],
  algorithmNode: Asn1 | undefined,
  ciphertext: Buffer,
  macFits: boolean,
  legacy: Set<string>,
): Asn1 {
  const scheme = toEncryptionScheme(toAlgorithm(algorithmNode));
  if (scheme.legacy) legacy.add(scheme.name);
  for (const passcode of passcodes) {
    try {
      const decrypted = parseAsn1(scheme.decrypt(ciphertext, passcode));
      if (isSequence(decrypted)) return decrypted;
    } catch (error) {
      if (error instanceof CertificateUnreadable) throw error;
    }
  }
  throw new CertificateUnreadable(
    'passcode',
    macFits
      ? 'The passcode fits the MAC of the PFX but not its contents: the file was written with two passcodes (openssl -twopass). Export it again with one.'
      : 'The passcode of the PFX is wrong, or the file is damaged (it has no MAC to tell). Check BANK_PFX_PASSCODE.',
  );
}

/** Ignores keys of an unsupported kind if there are others. */
function toKeys(pkcs8: readonly Buffer[]): KeyObject[] {
  const keys = pkcs8.flatMap((der) => {
    try {
      return [createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })];
    } catch {
      return [];
    }
  });
  if (keys.length > 0 || pkcs8.length === 0) return keys;
  throw new CertificateUnreadable(
    'unknown-algorithm',
    'The PFX contains a private key of an unsupported kind. Ask the bank for a certificate with an RSA or EC key.',
  );
}

function toWarnings(legacy: readonly string[], hasMac: boolean, unreadable: number): string[] {
  const warnings: string[] = [];
  if (legacy.length > 0) {
    warnings.push(
      `The PFX is encrypted with ${legacy.join(' and ')}, which is outdated and can be broken. Export it again with AES: ${EXPORT_AGAIN}, or on Windows: ${EXPORT_AGAIN_ON_WINDOWS}.`,
    );
  }
  if (!hasMac) warnings.push('The PFX has no MAC, so a change of the file would not be noticed. Export it with one.');
  if (unreadable > 0) warnings.push(`The gateway ignores ${unreadable} unreadable certificates in the PFX.`);
  return warnings;
}
