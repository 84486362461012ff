import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { type Asn1, childrenOf, isSequence, octetsOf, oidOf, parseAsn1, toDer } from './asn1.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import type { KeysAndCertificates } from './client-certificate.js';
import { explainNotPfx } from './explain-not-pfx.js';
import { explainPasscode } from './explain-passcode.js';
import { refuseAlgorithm, toEncodings, toEncryption, toMac, type Passcode } from './passcode-based-encryption.js';
import { EXPORT_AGAIN, EXPORT_AGAIN_ON_WINDOWS } from './remedy.js';

const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
const KEY_BAG = '1.2.840.113549.1.12.10.1.1';
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
const CERT_BAG = '1.2.840.113549.1.12.10.1.3';
const SAFE_CONTENTS_BAG = '1.2.840.113549.1.12.10.1.6';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
const PUBLIC_KEY_MODE = 'a public key instead of a passcode';

/**
 * Opens a PKCS#12 file (RFC 7292), DER or BER, and returns all keys and certificates in it, none of them checked yet.
 * Key derivation may block for seconds: `openCertificate` runs it in a worker thread.
 * @throws CertificateUnreadable whatever the bytes are
 */
export function readPfx(bytes: Buffer, passcode: string): KeysAndCertificates {
  try {
    const refusal = explainNotPfx(bytes);
    if (refusal) throw refusal;
    const [, authSafe, macData] = childrenOf(parseAsn1(bytes));
    const [type, wrapped] = childrenOf(authSafe);
    if (oidOf(type) !== DATA) refuseAlgorithm(PUBLIC_KEY_MODE);
    const contents = octetsOf(childrenOf(wrapped)[0]);
    const mac = macData ? toMac(macData) : null;
    const passcodes = toEncodings(passcode).filter((each) => !mac || mac(contents, each));
    if (passcodes.length === 0) throw explainPasscode(passcode, contents);
    return new PfxReader(passcodes, mac !== null).read(contents);
  } catch (error) {
    if (error instanceof CertificateUnreadable) throw error;
    throw new CertificateUnreadable(
      'damaged',
      'The PFX is damaged: its structure is broken.',
      'Copy it again in binary mode, or export it again.',
      { cause: error },
    );
  }
}

/** Reads one file with the encodings of its passcode that fit. */
class PfxReader {
  readonly #passcodes: readonly Passcode[];
  readonly #hasMac: boolean;
  /** PKCS#8 in DER. */
  readonly #keys: Buffer[] = [];
  readonly #certificates: X509Certificate[] = [];
  readonly #outdated = new Set<string>();
  #unreadable = 0;

  constructor(passcodes: readonly Passcode[], hasMac: boolean) {
    this.#passcodes = passcodes;
    this.#hasMac = hasMac;
  }

  /** @param contents the AuthenticatedSafe */
  read(contents: Buffer): KeysAndCertificates {
    for (const contentInfo of childrenOf(parseAsn1(contents))) this.#addBags(this.#toSafeContents(contentInfo));
    return { keys: toKeys(this.#keys), certificates: this.#certificates, warnings: this.#toWarnings() };
  }

  #toSafeContents(contentInfo: Asn1): Asn1 {
    const [typeNode, wrapped] = childrenOf(contentInfo);
    const type = oidOf(typeNode);
    const value = childrenOf(wrapped)[0];
    if (type === DATA) return parseAsn1(octetsOf(value));
    if (type !== ENCRYPTED_DATA) refuseAlgorithm(PUBLIC_KEY_MODE);
    const [, algorithm, ciphertext] = childrenOf(childrenOf(value)[1]);
    return this.#decrypt(algorithm, octetsOf(ciphertext));
  }

  /**
   * The SafeBags of a SafeContents (RFC 7292, 4.2). Ignores CRLs, secrets, unknown bags and attributes: which key belongs
   * to which certificate follows from the keys themselves.
   */
  #addBags(safeContents: Asn1): void {
    for (const bag of childrenOf(safeContents)) {
      const [idNode, wrapped] = childrenOf(bag);
      const id = oidOf(idNode);
      const value = childrenOf(wrapped)[0];
      if (value === undefined) continue;
      if (id === KEY_BAG) this.#keys.push(toDer(value));
      if (id === SHROUDED_KEY_BAG) {
        const [algorithm, ciphertext] = childrenOf(value);
        this.#keys.push(toDer(this.#decrypt(algorithm, octetsOf(ciphertext))));
      }
      if (id === CERT_BAG) this.#addCertificate(value);
      if (id === SAFE_CONTENTS_BAG) this.#addBags(value);
    }
  }

  #addCertificate(certBag: Asn1): void {
    const [type, wrapped] = childrenOf(certBag);
    if (oidOf(type) !== X509_CERTIFICATE) return;
    const der = octetsOf(childrenOf(wrapped)[0]);
    try {
      this.#certificates.push(new X509Certificate(der));
    } catch {
      this.#unreadable++;
    }
  }

  /** Decrypts to the SEQUENCE inside. */
  #decrypt(algorithm: Asn1 | undefined, ciphertext: Buffer): Asn1 {
    const { name, decrypt } = toEncryption(algorithm);
    if (!name.startsWith('aes')) this.#outdated.add(name);
    for (const passcode of this.#passcodes) {
      try {
        const decrypted = parseAsn1(decrypt(ciphertext, passcode));
        if (isSequence(decrypted)) return decrypted;
      } catch {
        // the next one may fit
      }
    }
    throw new CertificateUnreadable(
      'passcode',
      this.#hasMac
        ? 'The passcode fits the MAC of the PFX but not its contents: the file was written with two passcodes (openssl -twopass).'
        : 'The passcode of the PFX is wrong, or the file is damaged (it has no MAC, so the gateway cannot know which).',
      'Check BANK_PFX_PASSCODE, or export the PFX again with one passcode.',
    );
  }

  #toWarnings(): string[] {
    const warnings: string[] = [];
    if (this.#outdated.size > 0) {
      warnings.push(
        `The PFX is encrypted with ${[...this.#outdated].join(' and ')}, which is outdated and can be broken. Export it again with AES: ${EXPORT_AGAIN}, or on Windows: ${EXPORT_AGAIN_ON_WINDOWS}.`,
      );
    }
    if (!this.#hasMac) {
      warnings.push('The PFX has no MAC, so a change of the file would not be noticed. Export it again with a MAC.');
    }
    if (this.#unreadable > 0) {
      warnings.push(`The gateway ignores ${this.#unreadable} unreadable certificates in the PFX.`);
    }
    return warnings;
  }
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
    'The PFX contains a private key of an unsupported kind.',
    'Ask the bank for a certificate with an RSA or EC key.',
  );
}
