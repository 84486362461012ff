import { X509Certificate } from 'node:crypto';
import { type Asn1, childrenOf, isContextTag, isSequence, octetsOf, oidOf, toDer } from './asn1.js';

const KEY_BAG = '1.2.840.113549.1.12.10.1.1';
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
const CERT_BAG = '1.2.840.113549.1.12.10.1.3';
const SAFE_CONTENTS_BAG = '1.2.840.113549.1.12.10.1.6';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';

/** The contents of the SafeBags of a file. */
export interface SafeBags {
  /** PKCS#8 in DER. */
  readonly keys: Buffer[];
  readonly certificates: X509Certificate[];
  unreadableCertificates: number;
}

export type Decrypt = (algorithm: Asn1 | undefined, ciphertext: Buffer) => Asn1;

/**
 * Adds the SafeBags of a SafeContents (RFC 7292, 4.2) to `bags`. Ignores CRLs, secrets, unknown bags and attributes:
 * which key belongs to which certificate follows from the keys themselves.
 */
export function readSafeContents(safeContents: Asn1, decrypt: Decrypt, bags: SafeBags): void {
  for (const bag of childrenOf(safeContents)) {
    const [idNode, wrapped] = childrenOf(bag);
    const id = oidOf(idNode);
    const value = childrenOf(wrapped)[0];
    if (value === undefined) continue;
    if (id === KEY_BAG) bags.keys.push(toDer(value));
    if (id === SHROUDED_KEY_BAG) {
      const [algorithm, ciphertext] = childrenOf(value);
      bags.keys.push(toDer(decrypt(algorithm, octetsOf(ciphertext))));
    }
    if (id === CERT_BAG) addCertificate(value, bags);
    if (id === SAFE_CONTENTS_BAG && isSequence(value)) readSafeContents(value, decrypt, bags);
  }
}

function addCertificate(certBag: Asn1, bags: SafeBags): void {
  const [type, wrapped] = childrenOf(certBag);
  if (oidOf(type) !== X509_CERTIFICATE || !isContextTag(wrapped, 0)) return;
  const der = octetsOf(childrenOf(wrapped)[0]);
  try {
    bags.certificates.push(new X509Certificate(der));
  } catch {
    bags.unreadableCertificates++;
  }
}
