import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { IdentityMaterial } from '../../auth/identity-material.js';
import { requestToken, type AccessToken } from '../../auth/request-token.js';
import { ACCOUNTS_PATH } from '../../bank/account-reader.js';
import type { Settings } from '../../config/settings.js';
import type { Clock } from '../../time/clock.js';
import { checkAccounts } from './check-accounts.js';
import type { Findings } from './steps.js';
import type { Recorder } from './record/recorder.js';

/** Labels of hosts that are no name. */
const GENERIC = /\b(api|www|com|net|org|localhost|example|internal)\b/g;

/** What must not be in a recording, as far as the settings know it: hosts, user, subject of the certificate. */
export function namesOf(settings: Settings, { username, certificate }: IdentityMaterial): string[] {
  const { BANK_BASE_URL: baseUrl, BANK_AUTH_URL: authUrl, EGRESS_PROXY_URL: proxy } = settings;
  const hosts = [baseUrl, authUrl, proxy?.href].flatMap((url) => (url ? new URL(url).hostname : []));
  const subject = certificate.subject.replaceAll(/\b[A-Z]+=/g, ' ');
  return [...hosts, username, subject].map((name) => name.toLowerCase().replaceAll(GENERIC, ' '));
}

/** One token request. */
export async function recordToken(
  recorder: Recorder,
  settings: Settings,
  material: IdentityMaterial,
  clock: Clock,
  { facts }: Findings,
): Promise<AccessToken> {
  recorder.kind = 'token';
  const logger = pino({ level: 'silent' });
  const token = await requestToken({ egress: recorder, authUrl: settings.BANK_AUTH_URL, material, clock, logger });
  facts['lifetimeSeconds'] = token.lifetimeMs / 1000;
  return token;
}

/** One whole refresh, a page past the end, and a page of one row. */
export async function recordAccounts(
  recorder: Recorder,
  token: AccessToken,
  settings: Settings,
  findings: Findings,
): ReturnType<typeof checkAccounts> {
  const get = (query: Readonly<Record<string, string>>, signal: AbortSignal, requestId: string) =>
    recorder.get({
      target: 'accounts',
      baseUrl: settings.BANK_BASE_URL,
      path: ACCOUNTS_PATH,
      query,
      headers: { Accept: 'application/json', Authorization: `Bearer ${token.value}`, 'X-Request-Id': requestId },
      signal,
    });
  recorder.kind = 'page';
  const call: Parameters<typeof checkAccounts>[0] = {
    get: ({ query, signal, refreshId }) => get(query, signal, refreshId),
  };
  const listed = await checkAccounts(call, settings, findings);
  const { pages } = findings.facts as { pages?: number };
  const signal = AbortSignal.timeout(settings.SNAPSHOT_READ_TIMEOUT_MS);
  const size = String(settings.BANK_PAGE_SIZE);
  recorder.kind = 'past-the-end';
  await get({ PageNumber: String((pages ?? 0) + 1000), PageSize: size }, signal, randomUUID());
  recorder.kind = 'one-row';
  await get({ PageNumber: '1', PageSize: '1' }, signal, randomUUID());
  return listed;
}
