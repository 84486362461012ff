import type { KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import {
  isKeyOf,
  isSelfSigned,
  issued,
  toDistinguishedName,
  toIssuers,
  type KeysAndCertificates,
} from '../files/certificate-files.js';
import { GatewayError } from '../errors/gateway-error.js';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_PURPOSE = '2.5.29.37.0';

/**
 * The identity of the gateway at the bank. CA certificates are only in `chainPem`, to be sent along; none of them is
 * ever trusted for the bank's server.
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
 * Chooses key, certificate and chain, and loads them into a TLS context. Also returns an expired or not yet valid
 * certificate: check its dates. `roots` complete a chain that has no intermediate.
 * @throws CertificateUnreadable
 */
export function toClientCertificate(
  { keys, certificates }: KeysAndCertificates,
  now: Date,
  roots: readonly X509Certificate[],
): ClientCertificate {
  const { key, leaf } = choosePair(keys, certificates, now);
  const issuers = toIssuers(leaf, certificates);
  const keyPem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
  const certificatePem = leaf.toString();
  const chainPem = issuers.filter((issuer) => !isSelfSigned(issuer)).map(String);
  assertUsableForTls(keyPem, certificatePem + chainPem.join(''));
  const issuer = toDistinguishedName(leaf.issuer);
  const warnings: string[] = [];
  if (issuers.length === 0 && !isSelfSigned(leaf) && !isIssuedByRoot(leaf, roots)) {
    warnings.push(
      `The chain is incomplete: the certificate of the issuer, ${issuer}, is missing. If the bank rejects the certificate, export it again with all certificates of its path.`,
    );
  }
  for (const { subject, validFromDate: from, validToDate: to } of issuers.filter((each) => !isValid(each, now))) {
    warnings.push(
      `The certificate of the issuer ${toDistinguishedName(subject)} is valid only from ${from.toISOString()} to ${to.toISOString()}. The bank may reject the chain: get the current one.`,
    );
  }
  if (!allowsClientAuth(leaf)) {
    warnings.push(
      'The certificate does not allow client authentication (extended key usage 1.3.6.1.5.5.7.3.2 is missing). The bank will most likely reject it: ask for one that does.',
    );
  }
  return {
    keyPem,
    certificatePem,
    chainPem,
    subject: toDistinguishedName(leaf.subject),
    issuer,
    thumbprint: leaf.fingerprint.replaceAll(':', ''),
    thumbprintSha256: leaf.fingerprint256.replaceAll(':', ''),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    warnings,
  };
}

/** The error `certificate-unusable`, with the date, if the certificate is not valid at `nowMs`; else null. */
export function validityError(
  { notBefore, notAfter }: Pick<ClientCertificate, 'notBefore' | 'notAfter'>,
  nowMs: number,
): GatewayError | null {
  if (nowMs > notAfter.getTime()) {
    const detail = `The client certificate expired on ${notAfter.toISOString()} by the clock of this machine; get a new one from the bank.`;
    return new GatewayError('certificate-unusable', detail);
  }
  if (nowMs < notBefore.getTime()) {
    const detail = `The client certificate is not valid before ${notBefore.toISOString()}; check the clock of this machine, or wait.`;
    return new GatewayError('certificate-unusable', detail);
  }
  return null;
}

/**
 * Of several pairs, prefers one that allows client authentication, then one that is valid now, then the one that
 * expires last.
 */
function choosePair(keys: readonly KeyObject[], leaves: readonly X509Certificate[], now: Date): Pair {
  if (keys.length === 0) {
    throw new CertificateUnreadable(
      'no-key',
      'The PFX has no private key.',
      'Export it with its key (on Windows, tick "Yes, export the private key").',
    );
  }
  if (leaves.length === 0) {
    throw new CertificateUnreadable(
      'no-certificate',
      'There is a private key but no certificate.',
      'Put the certificate and its intermediates into the file.',
    );
  }
  const pairs = leaves.flatMap((leaf): Pair[] => {
    const key = keys.find((each) => isKeyOf(each, leaf));
    return key === undefined ? [] : [{ key, leaf }];
  });
  const rank = ({ leaf }: Pair) => (allowsClientAuth(leaf) ? 2 : 0) + (isValid(leaf, now) ? 1 : 0);
  const end = ({ leaf }: Pair) => leaf.validToDate.getTime();
  const [best] = pairs.toSorted((a, b) => rank(b) - rank(a) || end(b) - end(a));
  if (best) return best;
  throw new CertificateUnreadable(
    'key-mismatch',
    'The private key belongs to none of the certificates.',
    'Use the key that the certificate was requested with.',
  );
}

/** True if a root in `roots` issued the leaf: then no intermediate is missing. */
const isIssuedByRoot = (leaf: X509Certificate, roots: readonly X509Certificate[]): boolean =>
  roots.some((root) => isSelfSigned(root) && issued(root, leaf));

const isValid = ({ validFromDate, validToDate }: X509Certificate, now: Date): boolean =>
  validFromDate <= now && now <= validToDate;

/** @throws CertificateUnreadable with OpenSSL's own words, for example "ee key too small" */
function assertUsableForTls(key: string, cert: string): void {
  try {
    createSecureContext({ key, cert });
  } catch (cause) {
    const { reason = 'no reason given' } = cause as { readonly reason?: string };
    throw new CertificateUnreadable(
      'refused-by-tls',
      `OpenSSL rejects the client certificate or its chain for TLS (${reason}).`,
      'Ask the bank for one with keys of at least RSA 2048 or EC P-256, signed with SHA-256.',
      { cause },
    );
  }
}

/** True if the extended key usage, if there is one, allows client authentication (RFC 5280, 4.2.1.12). */
function allowsClientAuth(certificate: X509Certificate): boolean {
  // undefined if the extension is absent, whatever the type says
  const usages: string[] | undefined = certificate.keyUsage;
  return usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_PURPOSE);
}
