import { X509Certificate } from 'node:crypto';

interface Chain {
  /** From the leaf's issuer upwards, without the self-signed root. */
  readonly intermediates: readonly X509Certificate[];
  /** True if the PFX contains the issuer of the leaf, or the leaf is self-signed. */
  readonly hasIssuer: boolean;
}

/** Orders the intermediates for one leaf; of several that fit, one that is valid at `now` comes first. */
export function buildChain(leaf: X509Certificate, certificates: readonly X509Certificate[], now: Date): Chain {
  const intermediates: X509Certificate[] = [];
  let hasIssuer = isSelfSigned(leaf);
  for (let last = leaf; !isSelfSigned(last);) {
    const issuers = certificates.filter(
      (candidate) =>
        candidate.ca && issued(candidate, last) && candidate !== leaf && !intermediates.includes(candidate),
    );
    const issuer = issuers.find((candidate) => isValidAt(candidate, now)) ?? issuers[0];
    if (issuer === undefined) break;
    hasIssuer = true;
    if (!isSelfSigned(issuer)) intermediates.push(issuer);
    last = issuer;
  }
  return { intermediates, hasIssuer };
}

/** True if a root among `roots` (each a PEM) issued the leaf: then nothing is missing between the two. */
export function isIssuedByRoot(leaf: X509Certificate, roots: readonly string[]): boolean {
  return roots.some((pem) => {
    const root = new X509Certificate(pem);
    return isSelfSigned(root) && issued(root, leaf);
  });
}

/** True if `now` is within the dates of a certificate, both ends included. */
export function isValidAt(certificate: X509Certificate, now: Date): boolean {
  return certificate.validFromDate <= now && now <= certificate.validToDate;
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && issued(certificate, certificate);
}

function issued(issuer: X509Certificate, subject: X509Certificate): boolean {
  try {
    return subject.checkIssued(issuer) && subject.verify(issuer.publicKey);
  } catch {
    return false;
  }
}
