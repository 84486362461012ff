import { randomBytes } from 'node:crypto';
import forge from 'node-forge';
import { createCertificate } from './certificate.js';
import { judgeIdentity } from './identity-check.js';
import { prepareIdentityDirectory, readIdentityFiles, writeIdentityFiles } from './identity-files.js';
import type { IdentityContent } from './identity-files.js';
import { createKeyPair, toKeyPair, type KeyPair } from './key-pair.js';
import { createPfx } from './pfx.js';

/**
 * The sandbox's identity: the one kept in `directory` if it is valid, else a new one. Only the server certificate is remade
 * when only that is wrong (other `names`, its end near), so that clients can keep their files. `fresh` renews all.
 */
export async function loadIdentity(
  directory: string,
  names: readonly string[],
  fresh: boolean,
): Promise<IdentityContent> {
  await prepareIdentityDirectory(directory);
  let renew = fresh;
  // Read again after writing: another sandbox may write here at the same moment, and what is on disk is what clients use.
  for (let tries = 0; tries < 5; tries++) {
    const found = await readIdentityFiles(directory);
    const verdict = renew ? 'all' : judgeIdentity(found, names);
    if (verdict === 'valid') return found as IdentityContent;
    const made = verdict === 'all' ? await createIdentity(names) : await renewServer(found as IdentityContent, names);
    await writeIdentityFiles(directory, made);
    renew = false;
  }
  throw new Error('the identity is being changed by another program');
}

async function createIdentity(names: readonly string[]): Promise<IdentityContent> {
  const [caKey, intermediateKey, clientKey, serverKey] = await Promise.all([
    createKeyPair(),
    createKeyPair(),
    createKeyPair(),
    createKeyPair(),
  ]);
  const ca = createCertificate('Sandbox Bank Root CA', caKey, { use: 'root' });
  const root = { certificate: ca, key: caKey };
  const intermediate = createCertificate('Sandbox Bank Client CA', intermediateKey, {
    use: 'intermediate',
    issuer: root,
  });
  const issuer = { certificate: intermediate, key: intermediateKey };
  const client = createCertificate('sandbox-m2m', clientKey, { use: 'client', issuer });
  const passcode = randomBytes(18).toString('base64url');
  return {
    ca: toPem(ca),
    caKey: caKey.pem,
    server: createServerCertificate(root, serverKey, names),
    serverKey: serverKey.pem,
    pfx: createPfx(clientKey, [client, intermediate], passcode),
    passcode,
    username: 'sandbox-m2m',
    password: randomBytes(24).toString('base64url'),
  };
}

async function renewServer(
  kept: IdentityContent,
  names: readonly string[],
): Promise<Pick<IdentityContent, 'server' | 'serverKey'>> {
  const root = { certificate: forge.pki.certificateFromPem(kept.ca), key: toKeyPair(kept.caKey) };
  const key = await createKeyPair();
  return { server: createServerCertificate(root, key, names), serverKey: key.pem };
}

function createServerCertificate(
  issuer: { certificate: forge.pki.Certificate; key: KeyPair },
  key: KeyPair,
  names: readonly string[],
): string {
  return toPem(createCertificate(names[0] ?? 'localhost', key, { use: 'server', issuer, names }));
}

function toPem(certificate: forge.pki.Certificate): string {
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}
