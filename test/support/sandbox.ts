import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { writeIdentityFiles } from '../../src/sandbox/identity/identity-files.js';
import { renewClient } from '../../src/sandbox/identity/identity.js';
import { startSandbox, type Sandbox, type SandboxSettings } from '../../src/sandbox/sandbox.js';
import { onClose, temporaryDirectory } from './closing.js';
import { call as callAt, type Answer } from './call.js';
import { copySandboxIdentity, takeIdentity, takeKeyPair } from './stock.js';

/** A client certificate as TLS options; an empty object presents none. */
type ClientTls = { pfx: Buffer; passphrase: string } | Record<string, never>;

/** A new directory with the identity that sandboxes share by default, because creating one is slow. */
export function directoryWithIdentity(): string {
  const directory = temporaryDirectory();
  copySandboxIdentity(directory);
  return directory;
}

/** A new directory with another identity. */
export async function directoryWithOtherIdentity(): Promise<string> {
  const directory = temporaryDirectory();
  await writeIdentityFiles(directory, takeIdentity());
  return directory;
}

/** Settings for a sandbox on free ports of 127.0.0.1. */
export function toSandboxSettings(change: Partial<SandboxSettings> = {}): SandboxSettings {
  return {
    SANDBOX_HOST: '127.0.0.1',
    SANDBOX_PORT: 0,
    SANDBOX_CONTROL_PORT: 0,
    SANDBOX_NAMES: ['localhost', '127.0.0.1'],
    SANDBOX_DIRECTORY: change.SANDBOX_DIRECTORY ?? directoryWithIdentity(),
    SANDBOX_ACCOUNTS: 120,
    SANDBOX_SEED: 1,
    SANDBOX_TOKEN_LIFETIME_SECONDS: 300,
    SANDBOX_LATENCY_MS: 0,
    SANDBOX_ALLOWED_IPS: ['127.0.0.1', '::1'],
    ...change,
  };
}

/** All sandboxes have the same identity, unless a test passes SANDBOX_DIRECTORY or `fresh`. */
export async function start(change: Partial<SandboxSettings> = {}, fresh = false): Promise<Sandbox> {
  const sandbox = await startSandbox(toSandboxSettings(change), { fresh });
  onClose(() => sandbox.close());
  return sandbox;
}

export function ownCertificate({ files }: Sandbox): ClientTls {
  return { pfx: readFileSync(files.pfx), passphrase: readFileSync(files.passcode, 'utf8') };
}

/** Another client certificate signed by this sandbox's CA. */
export async function siblingCertificate({ directory }: Sandbox): Promise<ClientTls> {
  const [ca = '', caKey = ''] = ['ca.pem', 'ca-key.pem'].map((name) => readFileSync(join(directory, name), 'utf8'));
  const passcode = randomBytes(6).toString('hex');
  return { pfx: await renewClient({ ca, caKey, passcode }, { newKey: takeKeyPair }), passphrase: passcode };
}

/** One HTTPS call that trusts only the sandbox's CA. */
export const call = ({ files }: Sandbox, url: string, options: Parameters<typeof callAt>[1] = {}): Promise<Answer> =>
  callAt(url, { ca: readFileSync(files.ca), ...options });

export function basic({ files }: Sandbox): string {
  const pair = `${readFileSync(files.username, 'utf8')}:${readFileSync(files.password, 'utf8')}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

type Change = Omit<RequestOptions, 'headers'> & { headers?: Record<string, string | undefined>; body?: string };

/** A valid token request with `change` applied. An undefined header is omitted. */
export function askToken(sandbox: Sandbox, change: Change = {}): Promise<Answer> {
  const headers = present({
    'content-type': 'application/json',
    authorization: basic(sandbox),
    ...change.headers,
  });
  const url = `${sandbox.authUrl}/api/v1/authorizations/authorize`;
  return call(sandbox, url, { ...ownCertificate(sandbox), ...change, headers });
}

export async function getToken(sandbox: Sandbox, change: Change = {}): Promise<string> {
  return ((await askToken(sandbox, change)).json as { access_token: string }).access_token;
}

/** A valid request for the account list with `change` applied. */
export function askAccounts(sandbox: Sandbox, token: string, query = '', change: Change = {}): Promise<Answer> {
  const headers = present({ accept: 'application/json', authorization: `Bearer ${token}`, ...change.headers });
  const url = `${sandbox.url}/api/v1/accounts${query}`;
  return call(sandbox, url, { ...ownCertificate(sandbox), ...change, headers });
}

export async function control(
  { controlUrl }: Sandbox,
  method: string,
  body?: unknown,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const response = await fetch(`${controlUrl}/control`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const present = (headers: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<string, string>;
