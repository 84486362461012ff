import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { IdentityContent } from './identity-files.js';
import { openPfx } from './pfx.js';

/** Minimum remaining validity of a certificate. */
const MARGIN_MS = 24 * 3_600_000;

/** An identity whose client certificate may be missing, damaged or expired. */
export type RenewableIdentity = Omit<IdentityContent, 'pfx'> & Partial<Pick<IdentityContent, 'pfx'>>;

/**
 * True for a usable identity: it can be renewed, and the passcode opens the PFX, whose dates, chain and key are right.
 * Never throws: unreadable files are invalid.
 */
export function isValidIdentity(found: Partial<IdentityContent>, now = Date.now()): found is IdentityContent {
  if (!canRenewClient(found, now) || !found.pfx) return false;
  try {
    const roots = toRoots(found).map((pem) => new X509Certificate(pem));
    const { keyPem, certificatePems } = openPfx(found.pfx, found.passcode);
    const [leaf, intermediate] = certificatePems.map((pem) => new X509Certificate(pem));
    if (!leaf || !intermediate) return false;
    return (
      [intermediate, leaf].every((each) => isCurrent(each, now)) &&
      isIssuedBy(leaf, intermediate) &&
      roots.some((root) => isIssuedBy(intermediate, root)) &&
      leaf.checkPrivateKey(createPrivateKey(keyPem))
    );
  } catch {
    return false;
  }
}

/** All client root certificates, PEM. */
export function toRoots({ ca, clientRoots = '' }: Pick<IdentityContent, 'ca' | 'clientRoots'>): string[] {
  return [ca, ...(clientRoots.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [])];
}

/** True if everything but the client certificate is usable. */
export function canRenewClient(found: Partial<IdentityContent>, now = Date.now()): found is RenewableIdentity {
  const { ca, caKey, serverKey, passcode, username, password } = found;
  if (!ca || !caKey || !serverKey || !passcode || !username || !password) return false;
  try {
    createPrivateKey(serverKey);
    const root = new X509Certificate(ca);
    return isCurrent(root, now) && root.checkPrivateKey(createPrivateKey(caKey));
  } catch {
    return false;
  }
}

function isCurrent(certificate: X509Certificate, now: number): boolean {
  return certificate.validFromDate.getTime() <= now && certificate.validToDate.getTime() >= now + MARGIN_MS;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
