import { randomBytes } from 'node:crypto';
import forge from 'node-forge';
import { createCertificate, type Issuer, type Validity } from './certificate.js';
import { canRenewClient, isValidIdentity, toRoots } from './identity-check.js';
import {
  prepareIdentityDirectory,
  readIdentityFiles,
  writeIdentityFiles,
  type IdentityContent,
} from './identity-files.js';
import { createKeyPair, toKeyPair, type KeyPair } from './key-pair.js';
import { createPfx } from './pfx.js';

/** Number of additional roots to keep: the newest. */
const MAX_CLIENT_ROOTS = 10;

interface LoadedIdentity {
  readonly identity: IdentityContent;
  /** True if it replaces an unusable identity. */
  readonly isReplaced: boolean;
}

/** Returns the identity in `directory` if it is valid, else a new one. `fresh` forces a new one. */
export async function loadIdentity(directory: string, fresh: boolean): Promise<LoadedIdentity> {
  await prepareIdentityDirectory(directory);
  if (fresh) await writeNewIdentity(directory);
  let isReplaced = false;
  // read back after writing: another sandbox may write here at the same moment, and clients use the files on disk
  for (let tries = 0; tries < 5; tries++) {
    const found = await readIdentityFiles(directory);
    if (isValidIdentity(found)) return { identity: found, isReplaced };
    isReplaced ||= Object.keys(found).length > 0;
    await writeNewIdentity(directory);
  }
  throw new Error('the identity is being changed by another program');
}

/** Differences from the usual identity, for tests and drills. */
interface IdentityOptions {
  readonly clientValidity?: Validity;
  readonly secrets?: Pick<IdentityContent, 'username' | 'password' | 'passcode'>;
  /** Generated if missing. */
  readonly newKey?: () => KeyPair | Promise<KeyPair>;
}

export async function createIdentity(options: IdentityOptions = {}): Promise<IdentityContent> {
  const { newKey = createKeyPair, secrets = createSecrets() } = options;
  const [key, serverKey] = await Promise.all([newKey(), newKey()]);
  const root = { certificate: createCertificate('Sandbox Bank Root CA', key, { use: 'root' }), key };
  const pfx = await issuePfx(root, 'sandbox-m2m', secrets.passcode, options);
  const { username, password, passcode } = secrets;
  return { ca: toPem(root.certificate), caKey: key.pem, serverKey: serverKey.pem, pfx, username, password, passcode };
}

/** Creates a server certificate signed by the CA of this identity, PEM; `names` are DNS names and IP addresses. */
export function createServerCertificate(identity: IdentityContent, names: readonly string[], validity?: Validity) {
  const kind = { use: 'server', issuer: toIssuer(identity), names } as const;
  return toPem(createCertificate(names[0] ?? 'localhost', toKeyPair(identity.serverKey), kind, validity));
}

/**
 * Creates a client certificate signed by the CA of this identity, with the same passcode, as the bank does at a
 * renewal.
 */
export async function renewClient(
  identity: Pick<IdentityContent, 'ca' | 'caKey' | 'passcode'>,
  options: IdentityOptions = {},
  name = 'sandbox-m2m',
): Promise<Buffer> {
  return issuePfx(toIssuer(identity), name, identity.passcode, options);
}

/**
 * Replaces the client certificate in `directory`, to rehearse a renewal: from the same CA, or from a new root, which is
 * added to the roots that the sandbox accepts. Returns false if the other files are unusable: then the whole identity
 * is new.
 */
export async function renewClientFile(directory: string, newCa = false): Promise<boolean> {
  const found = await readIdentityFiles(directory);
  if (!canRenewClient(found)) {
    await writeNewIdentity(directory);
    return false;
  }
  if (newCa) {
    const { ca: root, pfx } = await createIdentity({ secrets: found });
    const roots = [...toRoots(found).slice(1), root].slice(-MAX_CLIENT_ROOTS);
    // the sandbox accepts the certificate before anyone can present it
    await writeIdentityFiles(directory, { clientRoots: roots.join('\n') });
    await writeIdentityFiles(directory, { pfx });
  } else {
    await writeIdentityFiles(directory, { pfx: await renewClient(found) });
  }
  return true;
}

async function writeNewIdentity(directory: string): Promise<void> {
  await writeIdentityFiles(directory, { ...(await createIdentity()), clientRoots: '' });
}

function createSecrets() {
  const secret = (bytes: number) => randomBytes(bytes).toString('base64url');
  return { username: 'sandbox-m2m', password: secret(24), passcode: secret(18) };
}

async function issuePfx(root: Issuer, name: string, passcode: string, options: IdentityOptions): Promise<Buffer> {
  const { newKey = createKeyPair, clientValidity } = options;
  const [intermediateKey, key] = await Promise.all([newKey(), newKey()]);
  const kind = { use: 'intermediate', issuer: root } as const;
  const intermediate = createCertificate('Sandbox Bank Client CA', intermediateKey, kind);
  const issuer = { certificate: intermediate, key: intermediateKey };
  const client = createCertificate(name, key, { use: 'client', issuer }, clientValidity);
  return createPfx(key, [client, intermediate], passcode);
}

function toIssuer({ ca, caKey }: Pick<IdentityContent, 'ca' | 'caKey'>): Issuer {
  return { certificate: forge.pki.certificateFromPem(ca), key: toKeyPair(caKey) };
}

function toPem(certificate: forge.pki.Certificate): string {
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}
