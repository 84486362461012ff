import type { KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { buildChain, isIssuedByRoot, isValidAt } from './chain.js';
import { CertificateUnreadable } from './certificate-unreadable.js';
import { PFX_FROM_PEM } from './remedy.js';

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';

/** All keys and certificates that the operator's files contain. */
export interface KeysAndCertificates {
  readonly keys: readonly KeyObject[];
  readonly certificates: readonly X509Certificate[];
  /** One sentence each, for the operator. */
  readonly warnings: readonly string[];
}

/**
 * The identity of the gateway at the bank. Certificates of authorities are only in `chainPem`, to be sent along; none of
 * them is ever trusted for the bank's server.
 */
export interface ClientCertificate {
  /** PKCS#8, not encrypted: never log it. */
  readonly keyPem: string;
  readonly certificatePem: string;
  /** Intermediates from the leaf's issuer upwards, without the root. */
  readonly chainPem: readonly string[];
  /** One line, as in RFC 4514: "CN=client, O=Company". */
  readonly subject: string;
  readonly issuer: string;
  /** SHA-1 of the certificate, upper-case hex, as Windows shows it. */
  readonly thumbprint: string;
  readonly thumbprintSha256: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** One sentence each, for the log and the doctor. */
  readonly warnings: readonly string[];
}

interface Pair {
  readonly key: KeyObject;
  readonly leaf: X509Certificate;
}

/**
 * Chooses key, certificate and chain and tries them with TLS. An expired or not yet valid certificate is returned all the
 * same: check its dates. `roots` (PEM) complete a chain that has no intermediate.
 * @throws CertificateUnreadable
 */
export function toClientCertificate(
  contents: KeysAndCertificates,
  now: Date,
  roots: readonly string[],
): ClientCertificate {
  const certificates = distinct(contents.certificates);
  const pairs = toPairs(contents.keys, certificates);
  const { key, leaf } = choosePair(pairs, now);
  const { intermediates, hasIssuer } = buildChain(leaf, certificates, now);
  const warnings = [...contents.warnings];
  if (!hasIssuer && !isIssuedByRoot(leaf, roots)) {
    warnings.push(
      `The chain is incomplete: the certificate of the issuer, ${toDistinguishedName(leaf.issuer)}, is missing. If the bank refuses the certificate, export it again with all certificates of its path.`,
    );
  }
  const keyPem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
  const certificatePem = leaf.toString();
  const refusal = refusalByTls(keyPem, certificatePem);
  if (refusal !== null) {
    throw new CertificateUnreadable(
      'refused-by-tls',
      `OpenSSL refuses the client certificate for TLS (${refusal}).`,
      'Ask the bank for one with a key of at least RSA 2048 or EC P-256, signed with SHA-256.',
    );
  }
  let chainPem = intermediates.map(String);
  // banks often have the intermediates themselves
  const refusalOfChain = refusalByTls(keyPem, certificatePem + chainPem.join(''));
  if (refusalOfChain !== null) {
    chainPem = [];
    warnings.push(
      `The gateway does not send the intermediates because OpenSSL refuses them (${refusalOfChain}). Ask the bank for newer ones.`,
    );
  }
  const subject = toDistinguishedName(leaf.subject);
  const thumbprint = leaf.fingerprint.replaceAll(':', '');
  if (pairs.length > 1) {
    warnings.push(
      `The file has ${pairs.length} certificates with a key. The gateway uses ${subject} (thumbprint ${thumbprint}, valid until ${leaf.validToDate.toISOString()}).`,
    );
  }
  if (!allowsClientAuth(leaf)) {
    warnings.push(
      'The certificate does not allow client authentication (extended key usage 1.3.6.1.5.5.7.3.2 is missing). The bank will most likely refuse it: ask for one that does.',
    );
  }
  return {
    keyPem,
    certificatePem,
    chainPem,
    subject,
    issuer: toDistinguishedName(leaf.issuer),
    thumbprint,
    thumbprintSha256: leaf.fingerprint256.replaceAll(':', ''),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    warnings,
  };
}

function toPairs(keys: readonly KeyObject[], leaves: readonly X509Certificate[]): Pair[] {
  if (keys.length === 0) {
    throw new CertificateUnreadable(
      'no-key',
      `The PFX has no private key${leaves.length > 0 ? ', only certificates' : ''}.`,
      `Export it with its key (on Windows, tick "Yes, export the private key"), or combine both: ${PFX_FROM_PEM}.`,
    );
  }
  if (leaves.length === 0) {
    throw new CertificateUnreadable(
      'no-certificate',
      'The PFX has a private key but no certificate.',
      `Combine both: ${PFX_FROM_PEM}.`,
    );
  }
  const pairs = leaves.flatMap((leaf): Pair[] => {
    const key = keys.find((each) => isKeyOf(each, leaf));
    return key === undefined ? [] : [{ key, leaf }];
  });
  if (pairs.length > 0) return pairs;
  throw new CertificateUnreadable(
    'key-mismatch',
    'The private key belongs to none of the certificates.',
    'Use the key that the certificate was requested with.',
  );
}

/** Prefers one that allows client authentication, is valid now, is no authority, and ends last. */
function choosePair(pairs: readonly Pair[], now: Date): Pair {
  const rank = ({ leaf }: Pair) =>
    (allowsClientAuth(leaf) ? 4 : 0) + (isValidAt(leaf, now) ? 2 : 0) + (leaf.ca ? 0 : 1);
  const end = ({ leaf }: Pair) => leaf.validToDate.getTime();
  const [best] = pairs.toSorted((a, b) => rank(b) - rank(a) || end(b) - end(a));
  return best as Pair;
}

/** OpenSSL's own words, for example "ee key too small"; null when it accepts them. */
function refusalByTls(key: string, cert: string): string | null {
  try {
    createSecureContext({ key, cert });
    return null;
  } catch (error) {
    const { reason = 'no reason given' } = error as { readonly reason?: string };
    return reason;
  }
}

function isKeyOf(key: KeyObject, certificate: X509Certificate): boolean {
  try {
    return certificate.checkPrivateKey(key);
  } catch {
    // OpenSSL cannot read the certificate's public key
    return false;
  }
}

/** True if the extended key usage, if there is one, allows client authentication (RFC 5280, 4.2.1.12). */
function allowsClientAuth(certificate: X509Certificate): boolean {
  // absent when the extension is, whatever its type says
  const usages: string[] | undefined = certificate.keyUsage;
  return usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_PURPOSE);
}

function distinct(certificates: readonly X509Certificate[]): X509Certificate[] {
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate])).values()];
}

/** The lines of node:crypto's names as one line in the order of RFC 4514: "CN=client, O=Company, C=LT". */
function toDistinguishedName(lines: string | undefined): string {
  return (lines ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .reverse()
    .join(', ');
}
