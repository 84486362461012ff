import { X509Certificate } from 'node:crypto';
import { type Asn1, childrenOf, isContextTag, isOctets, isSequence, isText, octetsOf, oidOf, toDer } from './asn1.js';
import type { Lock } from './lock.js';

const KEY_BAG = '1.2.840.113549.1.12.10.1.1';
const SHROUDED_KEY_BAG = '1.2.840.113549.1.12.10.1.2';
const CERT_BAG = '1.2.840.113549.1.12.10.1.3';
const SAFE_CONTENTS_BAG = '1.2.840.113549.1.12.10.1.6';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
const FRIENDLY_NAME = '1.2.840.113549.1.9.20';
const LOCAL_KEY_ID = '1.2.840.113549.1.9.21';

export interface BagLabels {
  /** Hex; what ties a key to its certificate, if the writer kept to it. */
  localKeyId: string | undefined;
  friendlyName: string | undefined;
}

export interface PfxCertificate extends BagLabels {
  certificate: X509Certificate;
}

/** What the bags hold, the keys still as PKCS#8 in DER. */
export interface Bags {
  pkcs8: ({ der: Buffer } & BagLabels)[];
  certificates: PfxCertificate[];
  unreadableCertificates: number;
}

/** Adds the bags of a SafeContents (RFC 7292, 4.2) to `bags`; CRLs, secrets and what we don't know are passed over. */
export function readBags(safeContents: Asn1, lock: Lock, bags: Bags): void {
  for (const bag of childrenOf(safeContents)) {
    const [idNode, wrapped, attributes] = childrenOf(bag);
    const id = oidOf(idNode);
    const labels = readLabels(attributes);
    const value = childrenOf(wrapped)[0];
    if (value === undefined) continue;
    if (id === KEY_BAG) bags.pkcs8.push({ der: toDer(value), ...labels });
    if (id === SHROUDED_KEY_BAG) {
      const [algorithm, ciphertext] = childrenOf(value);
      bags.pkcs8.push({ der: toDer(lock.open(algorithm, octetsOf(ciphertext))), ...labels });
    }
    if (id === CERT_BAG) addCertificate(value, labels, bags);
    if (id === SAFE_CONTENTS_BAG && isSequence(value)) readBags(value, lock, bags);
  }
}

function addCertificate(certBag: Asn1, labels: BagLabels, bags: Bags): void {
  const [type, wrapped] = childrenOf(certBag);
  if (oidOf(type) !== X509_CERTIFICATE || !isContextTag(wrapped, 0)) return;
  const der = octetsOf(childrenOf(wrapped)[0]);
  try {
    bags.certificates.push({ certificate: new X509Certificate(der), ...labels });
  } catch {
    bags.unreadableCertificates++;
  }
}

function readLabels(attributes: Asn1 | undefined): BagLabels {
  const labels: BagLabels = { localKeyId: undefined, friendlyName: undefined };
  for (const attribute of attributes === undefined ? [] : childrenOf(attributes)) {
    const [idNode, values] = childrenOf(attribute);
    const id = oidOf(idNode);
    const value = childrenOf(values)[0];
    if (id === LOCAL_KEY_ID && isOctets(value)) labels.localKeyId = octetsOf(value).toString('hex');
    if (id === FRIENDLY_NAME && isText(value) && typeof value.value === 'string') labels.friendlyName = value.value;
  }
  return labels;
}
