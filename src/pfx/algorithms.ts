import { type Asn1, childrenOf, oidOf } from './asn1.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { EXPORT_AGAIN, EXPORT_AGAIN_ON_WINDOWS } from './remedy.js';

/** An AlgorithmIdentifier (RFC 5280, 4.1.1.2) with its identifier in dotted form. */
export interface Algorithm {
  readonly oid: string;
  readonly parameters: Asn1 | undefined;
}

/** Reads an AlgorithmIdentifier. @throws Malformed */
export function toAlgorithm(node: Asn1 | undefined): Algorithm {
  const [oid, parameters] = childrenOf(node);
  return { oid: oidOf(oid), parameters };
}

/** Hashes of a MAC (RFC 7292), by the names that Node and node-forge share. */
const DIGESTS = {
  '1.2.840.113549.2.5': 'md5',
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
} as const;

export type DigestName = (typeof DIGESTS)[keyof typeof DIGESTS];

/** HMACs (RFC 8018, B.1) that PBKDF2 names as its PRF and PBMAC1 as its message authentication, by Node's name of the hash. */
const HMACS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

/** @throws CertificateUnreadable unknown-algorithm */
export function toDigestName({ oid }: Algorithm): DigestName {
  return (DIGESTS as Readonly<Record<string, DigestName>>)[oid] ?? refuseAlgorithm(oid, 'protected');
}

/** @throws CertificateUnreadable unknown-algorithm */
export function toHmacHash({ oid }: Algorithm): string {
  return HMACS[oid] ?? refuseAlgorithm(oid, 'encrypted');
}

/** @throws CertificateUnreadable unknown-algorithm, with the commands that convert the file */
export function refuseAlgorithm(what: string, how: 'encrypted' | 'protected'): never {
  throw new CertificateUnreadable(
    'unknown-algorithm',
    `The PFX is ${how} with ${what}, which the gateway does not support. Convert it: ${EXPORT_AGAIN}, or on Windows: ` +
      `${EXPORT_AGAIN_ON_WINDOWS}. Or use PEM files: BANK_CERT_FILE and BANK_KEY_FILE.`,
  );
}
