import { randomBytes } from 'node:crypto';
import forge from 'node-forge';
import { createCertificate, type Issuer, type Validity } from './certificate.js';
import { judgeIdentity } from './identity-check.js';
import {
  prepareIdentityDirectory,
  readIdentityFiles,
  writeIdentityFiles,
  type IdentityContent,
} from './identity-files.js';
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

/** How an identity may differ from the usual one, for tests and rehearsals. */
export interface IdentityOptions {
  readonly clientValidity?: Validity;
  readonly serverValidity?: Validity;
  readonly secrets?: Pick<IdentityContent, 'username' | 'password' | 'passcode'>;
  /** Where keys come from; generated when missing. */
  readonly newKey?: () => KeyPair | Promise<KeyPair>;
}

/** A new identity whose server certificate covers `names`. */
export async function createIdentity(
  names: readonly string[],
  options: IdentityOptions = {},
): Promise<IdentityContent> {
  const { newKey = createKeyPair, clientValidity, serverValidity, secrets = createSecrets() } = options;
  const [caKey, serverKey] = await Promise.all([newKey(), newKey()]);
  const root = { certificate: createCertificate('Sandbox Bank Root CA', caKey, { use: 'root' }), key: caKey };
  return {
    ca: toPem(root.certificate),
    caKey: caKey.pem,
    server: createServerCertificate(root, serverKey, names, serverValidity),
    serverKey: serverKey.pem,
    pfx: await issuePfx(root, 'sandbox-m2m', secrets.passcode, newKey, clientValidity),
    ...secrets,
  };
}

function createSecrets() {
  const [passcode, password] = [randomBytes(18), randomBytes(24)].map((bytes) => bytes.toString('base64url'));
  return { username: 'sandbox-m2m', password: password as string, passcode: passcode as string };
}

/** A new client certificate by the CA of this identity, under the same passcode: what the bank hands out at a renewal. */
export async function renewClient(
  identity: Pick<IdentityContent, 'ca' | 'caKey' | 'passcode'>,
  { newKey = createKeyPair, clientValidity }: IdentityOptions = {},
  name = 'sandbox-m2m',
): Promise<Buffer> {
  return issuePfx(toIssuer(identity), name, identity.passcode, newKey, clientValidity);
}

async function issuePfx(
  root: Issuer,
  name: string,
  passcode: string,
  newKey: () => KeyPair | Promise<KeyPair>,
  validity: Validity | undefined,
): Promise<Buffer> {
  const [intermediateKey, key] = await Promise.all([newKey(), newKey()]);
  const kind = { use: 'intermediate', issuer: root } as const;
  const intermediate = createCertificate('Sandbox Bank Client CA', intermediateKey, kind);
  const issuer = { certificate: intermediate, key: intermediateKey };
  return createPfx(key, [createCertificate(name, key, { use: 'client', issuer }, validity), intermediate], passcode);
}

function toIssuer({ ca, caKey }: Pick<IdentityContent, 'ca' | 'caKey'>): Issuer {
  return { certificate: forge.pki.certificateFromPem(ca), key: toKeyPair(caKey) };
}

/** Replaces the client certificate kept in `directory`, to rehearse a renewal; the other files stay as they are. */
export async function renewClientFile(directory: string, names: readonly string[]): Promise<void> {
  const identity = await loadIdentity(directory, names, false);
  await writeIdentityFiles(directory, { pfx: await renewClient(identity) });
}

async function renewServer(
  kept: IdentityContent,
  names: readonly string[],
): Promise<Pick<IdentityContent, 'server' | 'serverKey'>> {
  const key = await createKeyPair();
  return { server: createServerCertificate(toIssuer(kept), key, names), serverKey: key.pem };
}

function createServerCertificate(issuer: Issuer, key: KeyPair, names: readonly string[], validity?: Validity): string {
  return toPem(createCertificate(names[0] ?? 'localhost', key, { use: 'server', issuer, names }, validity));
}

function toPem(certificate: forge.pki.Certificate): string {
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}
