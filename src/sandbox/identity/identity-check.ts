import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { IdentityContent } from './identity-files.js';
import { openPfx } from './pfx.js';

const MARGIN_MS = 24 * 3_600_000;

/** Which part of a kept identity must be made again. `all` means that the client needs its new files too. */
type Verdict = 'valid' | 'server' | 'all';

/**
 * Judges an identity read from disk: dates (with a day to spare), chains, keys, that the PFX opens with its passcode, and that
 * the server certificate covers every one of `names`. Never throws: what cannot be read is not valid.
 */
export function judgeIdentity(found: Partial<IdentityContent>, names: readonly string[], now = Date.now()): Verdict {
  const { ca, caKey, server, serverKey, pfx, passcode, username, password } = found;
  if (!ca || !caKey || !pfx || !passcode || !username || !password) return 'all';
  const root = attempt(() => new X509Certificate(ca));
  if (!root || !attempt(() => isGoodRoot(root, caKey, now) && isGoodClient(root, pfx, passcode, now))) return 'all';
  if (!server || !serverKey) return 'server';
  return attempt(() => isGoodServer(root, server, serverKey, names, now)) ? 'valid' : 'server';
}

function isGoodRoot(root: X509Certificate, key: string, now: number): boolean {
  return root.ca && isCurrent(root, now) && isIssuedBy(root, root) && fits(root, key);
}

function isGoodClient(root: X509Certificate, pfx: Buffer, passcode: string, now: number): boolean {
  const { keyPem, certificatePems } = openPfx(pfx, passcode);
  const [leaf, intermediate] = certificatePems.map((pem) => new X509Certificate(pem));
  if (!leaf || !intermediate) return false;
  return (
    isCurrent(leaf, now) &&
    isCurrent(intermediate, now) &&
    fits(leaf, keyPem) &&
    isIssuedBy(leaf, intermediate) &&
    isIssuedBy(intermediate, root)
  );
}

function isGoodServer(root: X509Certificate, pem: string, key: string, names: readonly string[], now: number): boolean {
  const server = new X509Certificate(pem);
  const covers = names.every((name) => (isIP(name) ? server.checkIP(name) : server.checkHost(name)) !== undefined);
  return covers && isCurrent(server, now) && isIssuedBy(server, root) && fits(server, key);
}

function isCurrent(certificate: X509Certificate, now: number): boolean {
  return certificate.validFromDate.getTime() <= now && certificate.validToDate.getTime() >= now + MARGIN_MS;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function fits(certificate: X509Certificate, key: string): boolean {
  return certificate.checkPrivateKey(createPrivateKey(key));
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
