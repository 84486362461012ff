import type { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { buildChain, isIssuedByRoot, isValidAt } from './chain.js';
import { allowsClientAuth, choosePair, distinct, toDistinguishedName } from './choose-pair.js';
import { PfxUnreadable } from './pfx-unreadable.js';
import type { PfxContents } from './read-pfx.js';
import { EXPORT_AGAIN, EXPORT_AGAIN_ON_WINDOWS } from './remedy.js';

/**
 * What the gateway identifies itself with. Certificates of authorities appear in `chainPem` only, to be sent along:
 * none of them is ever to be trusted for the bank's server.
 */
export interface ClientCertificate {
  /** PKCS#8, not encrypted: never to be logged. */
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
  /** A sentence each, for the log and the doctor. */
  readonly warnings: readonly string[];
}

/**
 * Chooses key, certificate and chain and tries them on TLS. A certificate that is expired or not yet valid is given
 * all the same: look at its dates. A chain is complete too when one of `roots` (PEM) issued the certificate. Throws
 * PfxUnreadable when there is nothing usable.
 */
export function toClientCertificate(contents: PfxContents, now: Date, roots: readonly string[]): ClientCertificate {
  const { pair, outOf } = choosePair(contents, now);
  const { leaf } = pair;
  const keyPem = pair.key.export({ format: 'pem', type: 'pkcs8' }).toString();
  refuseUnlessTlsTakes(keyPem, leaf);

  const subject = toDistinguishedName(leaf.subject);
  const thumbprint = leaf.fingerprint.replaceAll(':', '');
  const warnings = contents.legacyAlgorithms.length > 0 ? [warnOfLegacy(contents.legacyAlgorithms)] : [];
  warnings.push(...contents.remarks);
  if (outOf > 1) {
    warnings.push(
      `The PFX holds ${outOf} certificates with a key; used is ${subject} (thumbprint ${thumbprint}, valid to ${leaf.validToDate.toISOString()}), chosen for client authentication and validity.`,
    );
  }
  if (!allowsClientAuth(leaf)) {
    warnings.push(
      'The certificate does not allow client authentication (extended key usage 1.3.6.1.5.5.7.3.2 is missing); the bank will most likely refuse it: ask for one that does.',
    );
  }
  return {
    keyPem,
    certificatePem: leaf.toString(),
    chainPem: chooseChain({ keyPem, leaf, contents, now, roots }, warnings),
    subject,
    issuer: toDistinguishedName(leaf.issuer),
    thumbprint,
    thumbprintSha256: leaf.fingerprint256.replaceAll(':', ''),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    warnings,
  };
}

interface Chosen {
  readonly keyPem: string;
  readonly leaf: X509Certificate;
  readonly contents: PfxContents;
  readonly now: Date;
  readonly roots: readonly string[];
}

function chooseChain({ keyPem, leaf, contents, now, roots }: Chosen, warnings: string[]): string[] {
  const { intermediates, hasIssuer } = buildChain(leaf, distinct(contents.certificates), now);
  if (!hasIssuer && !isIssuedByRoot(leaf, roots)) {
    warnings.push(
      `The chain is incomplete: the PFX does not hold the certificate of the issuer, ${toDistinguishedName(leaf.issuer)}. If the bank refuses the certificate, export it again with all certificates of its path (on Windows -ChainOption BuildChain, with openssl -certfile).`,
    );
  }
  for (const late of intermediates.filter((certificate) => !isValidAt(certificate, now))) {
    warnings.push(
      `The intermediate ${toDistinguishedName(late.subject)} is valid only from ${late.validFromDate.toISOString()} to ${late.validToDate.toISOString()}.`,
    );
  }
  const chainPem = intermediates.map(String);
  const refusal = refusalByTls(keyPem, [leaf.toString(), ...chainPem]);
  if (refusal === undefined) return chainPem;
  warnings.push(`The intermediates are not sent, as OpenSSL refuses them (${refusal}); ask the bank for newer ones.`);
  return [];
}

function refuseUnlessTlsTakes(keyPem: string, leaf: X509Certificate): void {
  const refusal = refusalByTls(keyPem, [leaf.toString()]);
  if (refusal === undefined) return;
  throw new PfxUnreadable(
    'refused-by-tls',
    `The PFX was read, but OpenSSL refuses its certificate for TLS (${refusal}). Ask the bank for one with a key of RSA 2048 or EC P-256 at least, signed with SHA-256.`,
  );
}

/** OpenSSL's own words, such as "ee key too small". */
function refusalByTls(key: string, certificates: readonly string[]): string | undefined {
  try {
    createSecureContext({ key, cert: certificates.join('') });
    return undefined;
  } catch (error) {
    return error instanceof Error && 'reason' in error ? String(error.reason) : 'no reason given';
  }
}

function warnOfLegacy(algorithms: readonly string[]): string {
  return `The PFX is encrypted with ${algorithms.join(' and ')}, which is outdated and can be broken; it was read, but export it again with AES: ${EXPORT_AGAIN}, or on Windows: ${EXPORT_AGAIN_ON_WINDOWS}.`;
}
