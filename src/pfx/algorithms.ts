import { type Asn1, childrenOf, oidOf } from './asn1.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import { EXPORT_AGAIN, EXPORT_AGAIN_ON_WINDOWS } from './remedy.js';

/** An AlgorithmIdentifier (RFC 5280, 4.1.1.2), its identifier in dotted form. */
export interface Algorithm {
  readonly oid: string;
  readonly parameters: Asn1 | undefined;
}

/** Reads an AlgorithmIdentifier. Throws Malformed. */
export function toAlgorithm(node: Asn1 | undefined): Algorithm {
  const [oid, parameters] = childrenOf(node);
  return { oid: oidOf(oid), parameters };
}

/** Hashes that a MAC of RFC 7292 names. */
const DIGESTS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.5': 'md5',
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
  '2.16.840.1.101.3.4.2.5': 'sha512-224',
  '2.16.840.1.101.3.4.2.6': 'sha512-256',
  '2.16.840.1.101.3.4.2.7': 'sha3-224',
  '2.16.840.1.101.3.4.2.8': 'sha3-256',
  '2.16.840.1.101.3.4.2.9': 'sha3-384',
  '2.16.840.1.101.3.4.2.10': 'sha3-512',
};

/** HMACs (RFC 8018, B.1) that PBKDF2 names as its PRF, and PBMAC1 as its message authentication. */
const HMACS: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
  '1.2.840.113549.2.12': 'sha512-224',
  '1.2.840.113549.2.13': 'sha512-256',
  '2.16.840.1.101.3.4.2.13': 'sha3-224',
  '2.16.840.1.101.3.4.2.14': 'sha3-256',
  '2.16.840.1.101.3.4.2.15': 'sha3-384',
  '2.16.840.1.101.3.4.2.16': 'sha3-512',
};

/** What we know by name only, to say it in the refusal. */
const UNREAD: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.7': 'RSAES-OAEP',
  '1.2.840.113549.1.5.1': 'PBE-MD2-DES',
  '1.2.840.113549.1.5.3': 'PBE-MD5-DES',
  '1.2.840.113549.1.5.4': 'PBE-MD2-RC2-64',
  '1.2.840.113549.1.5.6': 'PBE-MD5-RC2-64',
  '1.2.840.113549.1.5.10': 'PBE-SHA1-DES',
  '1.2.840.113549.1.5.11': 'PBE-SHA1-RC2-64',
  '1.2.840.113549.3.4': 'RC4',
  '1.2.840.113549.3.9': 'RC5-CBC',
  '1.3.14.3.2.7': 'DES-CBC',
  '1.2.410.200004.1.4': 'SEED-CBC',
  '1.3.6.1.4.1.188.7.1.1.2': 'IDEA-CBC',
  '1.3.6.1.4.1.3029.1.2': 'BLOWFISH-CBC',
  '2.16.840.1.101.3.4.1.6': 'AES-128-GCM',
  '2.16.840.1.101.3.4.1.26': 'AES-192-GCM',
  '2.16.840.1.101.3.4.1.46': 'AES-256-GCM',
  '1.2.156.10197.1.104.2': 'SM4-CBC',
  '1.2.156.10197.1.401': 'SM3',
  '1.2.643.7.1.1.2.2': 'GOST R 34.11-2012 (256)',
  '1.2.643.7.1.1.2.3': 'GOST R 34.11-2012 (512)',
  '1.2.643.2.2.9': 'GOST R 34.11-94',
  '1.2.643.2.2.21': 'GOST 28147-89',
  '1.2.643.2.2.19': 'GOST R 34.10-2001',
  '1.2.643.7.1.1.1.1': 'GOST R 34.10-2012 (256)',
  '1.2.643.7.1.1.1.2': 'GOST R 34.10-2012 (512)',
};

/** The hash of a MAC, by the name that node:crypto has for it. Throws PfxUnreadable 'unknown-algorithm'. */
export function toDigestName({ oid }: Algorithm): string {
  return DIGESTS[oid] ?? refuseAlgorithm(oid, 'protected');
}

/** The hash inside an HMAC or a PBKDF2. Throws PfxUnreadable 'unknown-algorithm'. */
export function toHmacHash({ oid }: Algorithm): string {
  return HMACS[oid] ?? refuseAlgorithm(oid, 'given its keys');
}

/** "PBE-MD5-DES (1.2.840.113549.1.5.3)", or the identifier alone. */
export function nameAlgorithm(oid: string): string {
  const name = UNREAD[oid];
  return name === undefined ? oid : `${name} (${oid})`;
}

/** Throws PfxUnreadable 'unknown-algorithm', with the commands that convert the file. */
export function refuseAlgorithm(oid: string, how: 'encrypted' | 'protected' | 'given its keys'): never {
  throw new PfxUnreadable(
    'unknown-algorithm',
    `The PFX is ${how} with ${nameAlgorithm(oid)}, which is not read. Convert it: ${EXPORT_AGAIN}, or on Windows: ${EXPORT_AGAIN_ON_WINDOWS}.`,
  );
}
