import { randomUUID } from 'node:crypto';
import type { AuthorizedCall } from '../../auth/authorized-call.js';
import type { IdentityMaterial } from '../../auth/identity-material.js';
import { ACCOUNTS_PATH } from '../../bank/account-reader.js';
import type { Settings } from '../../config/settings.js';
import type { Recorder } from './record/recorder.js';

/** Labels of hosts that are no name. */
const GENERIC = /\b(api|www|com|net|org|localhost|example|internal)\b/g;

/** What must not be in a recording: hosts, user, subject of our certificate, and the names of the bank's servers. */
export function namesOf(
  settings: Settings,
  { username, certificate }: IdentityMaterial,
  tls: Recorder['tls'],
): string[] {
  const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl, EGRESS_PROXY_URL: proxy } = settings;
  const hosts = [baseUrl, authUrl, proxy?.href].flatMap((url) => (url ? new URL(url).hostname : []));
  const servers = Object.values(tls).flatMap(({ serverChain = [] }) =>
    serverChain.map(({ subject, names }) => `${subject} ${names}`),
  );
  const plain = [certificate.subject, ...servers].map((name) => name.replaceAll(/\b(?:[A-Z]+=|DNS:)/g, ' '));
  return [...hosts, username, ...plain].map((name) => name.toLowerCase().replaceAll(GENERIC, ' '));
}

/** Requests a page past the end, and a page of one row. */
export async function recordOddPages(
  recorder: Recorder,
  call: AuthorizedCall,
  { BANK_PAGE_SIZE: size, SNAPSHOT_READ_TIMEOUT_MS: timeoutMs }: Settings,
  pages: number,
): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const get = (number: number, size: number) =>
    call.get({
      path: ACCOUNTS_PATH,
      query: { PageNumber: String(number), PageSize: String(size) },
      refreshId: randomUUID(),
      signal,
    });
  recorder.kind = 'past-the-end';
  await get(pages + 1000, size);
  recorder.kind = 'one-row';
  await get(1, 1);
}
