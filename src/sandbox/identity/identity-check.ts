import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { IdentityContent } from './identity-files.js';
import { openPfx } from './pfx.js';

const MARGIN_MS = 24 * 3_600_000;

/**
 * True for an identity that can be used: dates (with a day to spare), chain and keys fit, and the passcode opens the PFX.
 * Never throws: what cannot be read is not valid.
 */
export function isValidIdentity(found: Partial<IdentityContent>, now = Date.now()): found is IdentityContent {
  const { ca, caKey, serverKey, pfx, passcode, username, password } = found;
  if (!ca || !caKey || !serverKey || !pfx || !passcode || !username || !password) return false;
  try {
    createPrivateKey(serverKey);
    const root = new X509Certificate(ca);
    const { keyPem, certificatePems } = openPfx(pfx, passcode);
    const [leaf, intermediate] = certificatePems.map((pem) => new X509Certificate(pem));
    if (!leaf || !intermediate) return false;
    return (
      [root, intermediate, leaf].every((each) => isCurrent(each, now)) &&
      isIssuedBy(leaf, intermediate) &&
      isIssuedBy(intermediate, root) &&
      root.checkPrivateKey(createPrivateKey(caKey)) &&
      leaf.checkPrivateKey(createPrivateKey(keyPem))
    );
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
