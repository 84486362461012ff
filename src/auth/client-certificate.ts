import type { X509Certificate } from 'node:crypto';
import {
  isSelfSigned,
  toDistinguishedName,
  toIssuers,
  toPairs,
  whyNotForTls,
  type KeysAndCertificates,
} from '../files/certificate-files.js';
import { allowsClientAuth, examineChain, isValid } from '../files/examine-certificates.js';
import { GatewayError } from '../errors/gateway-error.js';
import { CertificateUnreadable } from '../files/certificate-unreadable.js';

/** The identity of the gateway at the bank. None of its CA certificates is ever trusted for the bank's server. */
export type ClientCertificate = Readonly<ReturnType<typeof toClientCertificate>>;

/**
 * Chooses key, certificate and chain, and loads them into a TLS context. The certificate may be expired or not yet valid.
 * @param roots complete a chain that has no intermediate
 * @throws CertificateUnreadable
 */
export function toClientCertificate(contents: KeysAndCertificates, now: Date, roots: readonly X509Certificate[]) {
  const { key, certificate: leaf } = choosePair(contents, now);
  const issuers = toIssuers(leaf, contents.certificates);
  const keyPem = key.export({ format: 'pem', type: 'pkcs8' }).toString();
  const certificatePem = leaf.toString();
  const chainPem = issuers.filter((issuer) => !isSelfSigned(issuer)).map(String);
  const reason = whyNotForTls(certificatePem + chainPem.join(''), keyPem);
  if (reason !== null) {
    throw new CertificateUnreadable(
      'refused-by-tls',
      `OpenSSL rejects the client certificate or its chain for TLS (${reason}).`,
      'Ask the bank for one with keys of at least RSA 2048 or EC P-256, signed with SHA-256.',
    );
  }
  return {
    /** PKCS#8, not encrypted: never log it. */
    keyPem,
    certificatePem,
    /** Intermediates from the leaf's issuer upwards, without the root. */
    chainPem,
    /** One line, in the order of RFC 4514: "CN=client, O=Company". */
    subject: toDistinguishedName(leaf.subject),
    issuer: toDistinguishedName(leaf.issuer),
    /** SHA-1 of the certificate, upper-case hex, as Windows shows it. */
    thumbprint: leaf.fingerprint.replaceAll(':', ''),
    thumbprintSha256: leaf.fingerprint256.replaceAll(':', ''),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    /** One text each, for the log and the doctor. */
    warnings: examineChain(leaf, issuers, { use: 'client', now, roots }),
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

/** Prefers a pair that allows client authentication, then one that is valid now, then the one that expires last. */
function choosePair({ keys, certificates }: KeysAndCertificates, now: Date) {
  if (keys.length === 0) {
    throw new CertificateUnreadable(
      'no-key',
      'The PFX has no private key.',
      'Export it with its key (on Windows, tick "Yes, export the private key").',
    );
  }
  if (certificates.length === 0) {
    throw new CertificateUnreadable(
      'no-certificate',
      'There is a private key but no certificate.',
      'Put the certificate and its intermediates into the file.',
    );
  }
  const rank = (each: X509Certificate) => (allowsClientAuth(each) ? 2 : 0) + (isValid(each, now) ? 1 : 0);
  const [best] = toPairs({ keys, certificates }).toSorted(
    ({ certificate: a }, { certificate: b }) => rank(b) - rank(a) || b.validToDate.getTime() - a.validToDate.getTime(),
  );
  if (best) return best;
  throw new CertificateUnreadable(
    'key-mismatch',
    'The private key belongs to none of the certificates.',
    'Use the key that the certificate was requested with.',
  );
}
