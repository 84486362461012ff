import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { AuthorizedCall } from '../../auth/authorized-call.js';
import type { IdentityMaterial } from '../../auth/identity-material.js';
import { ACCOUNTS_PATH } from '../../bank/account-reader.js';
import type { Settings } from '../../config/settings.js';
import type { RecordingFacts } from '../../recording/read-recording.js';
import type { TlsFacts } from './connect.js';
import type { BankDescription, Recorder } from '../../recording/recorder.js';

/**
 * Facts about the bank for a recording: its TLS, and the words that the recording must not contain. The salt keeps its
 * keys from being looked up in a public list of certificates.
 */
export function describeBank(
  settings: Settings,
  { username, certificate }: IdentityMaterial,
  facts: Readonly<Record<string, TlsFacts>>,
): BankDescription {
  const salt = randomBytes(16).toString('hex');
  const names = [certificate.subject];
  const tls: Record<string, RecordingFacts['tls'][string]> = {};
  for (const [role, { tlsVersion, serverChain = [] }] of Object.entries(facts)) {
    names.push(...serverChain.map(({ subject, names }) => `${subject} ${names}`));
    const chain = serverChain.map(({ subjectKey, validFrom, validTo }) => ({
      subjectKey: hash('sha256', salt + subjectKey).slice(0, 32),
      validFrom: validFrom.slice(0, 10),
      validTo: validTo.slice(0, 10),
    }));
    tls[role] = { version: String(tlsVersion), salt, chain };
  }
  const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl, EGRESS_PROXY_URL: proxy } = settings;
  const hosts = [baseUrl, authUrl, proxy?.href].flatMap((url) => (url ? new URL(url).hostname : []));
  const words = [...hosts, username, ...names]
    .join(' ')
    .toLowerCase()
    .match(/[\p{L}\p{N}]{3,}/gu);
  return { tls, secrets: new Set(words) };
}

/** Requests a page past the end, and a page with one row. A failure is in the recording too, and is not the list's. */
export async function recordOddPages(
  recorder: Recorder,
  call: AuthorizedCall,
  { BANK_PAGE_SIZE: size, SNAPSHOT_READ_TIMEOUT_MS: timeoutMs }: Settings,
  pages: number,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const get = (number: number, size: number) => {
    const query = { PageNumber: String(number), PageSize: String(size) };
    return call.get({ path: ACCOUNTS_PATH, query, refreshId: randomUUID(), signal }).catch(() => undefined);
  };
  recorder.kind = 'past-the-end';
  await get(pages + 1000, size);
  recorder.kind = 'one-row';
  await get(1, 1);
}
