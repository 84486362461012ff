import { describe, expect, it } from '@jest/globals';
import type { ProblemEntry } from './gateway.js';
import { healthWith } from './health-sample.js';
import { toIncident } from './incident.js';
import { toMessage } from './message.js';
import { toPath } from './path.js';

const NOW = Date.parse('2026-11-21T10:13:02Z');
const problem = (code: string, status: number | null, title: string) => ({ code, status, title, remedy: 'Do it.' });
const PROBLEMS = [problem('bank-error', 503, 'The bank answers with errors')] as unknown as ProblemEntry[];
const failing = { failingSince: '2026-11-21T10:09:13Z', attempts: 14, nextAttemptAt: '2026-11-21T10:13:14Z' };
const bankError = { status: 'down', code: 'bank-error', owner: 'bank', detail: 'It answered 503.' } as const;
const stale = { status: 'degraded', code: 'bank-error', stale: true, asOf: '2026-11-21T10:09:01Z' } as const;
const expires = (at: string) => ({ ...stale, expiresAt: `2026-11-21T${at}Z` });
const pathOf = (health: Parameters<typeof toPath>[0]) =>
  toPath(health, null, NOW).map(({ name, level, value }) => `${name} ${level}: ${value}`);

/** Each state, from /health of a real gateway: test/console/states-of-the-page. */
describe('what is wrong, in a sentence of impact', () => {
  it('is the age of the copy while there is one, once for a cause that shows in several parts', () => {
    const health = healthWith('degraded', { token: bankError, bank: failing, snapshot: expires('10:14:01') });
    expect(toIncident(health, NOW, PROBLEMS)).toMatchObject({
      level: 'warn',
      impact: 'Your apps still get data, 4 minutes old.',
      title: 'The bank answers with errors',
      trouble: { part: 'token', owner: 'bank', remedy: 'Do it.' },
      since: failing.failingSince,
      attempts: 14,
      copy: { expiresAt: '2026-11-21T10:14:01Z' },
      also: [],
    });
  });

  it('is that calls fail from the moment the copy ends, before /health is asked again', () => {
    const health = healthWith('degraded', { token: bankError, bank: failing, snapshot: expires('10:13:00') });
    expect(toIncident(health, NOW, PROBLEMS)).toMatchObject({
      level: 'bad',
      impact: 'All calls fail with 503 since 10:13:00.',
      copy: null,
    });
  });
});

describe('the path', () => {
  it('is checked as a whole when all is well', () => {
    expect(pathOf(healthWith('ok'))).toEqual([
      'Certificate ok: 364 days left',
      'Network ok: direct',
      'Token service ok: token valid',
      'Account list ok: answers',
      'Snapshot ok: 120 accounts',
      'Your apps ok: no calls',
    ]);
  });

  it('is not checked after the stage that is broken, whatever an older gateway says of those', () => {
    const health = healthWith('degraded', { token: bankError, snapshot: expires('10:14:01') });
    expect(pathOf(health).slice(2)).toEqual([
      'Token service bad: bank-error',
      'Account list unknown: not checked',
      'Snapshot warn: of 10:09:01, stale',
      'Your apps warn: no calls',
    ]);
  });
});

it('the message to the bank has times, status, request ids and the thumbprint filled in', () => {
  const health = healthWith('degraded', { token: bankError, bank: failing, snapshot: expires('10:14:01') });
  const incident = toIncident(health, NOW, PROBLEMS);
  if (!incident) throw new Error('all is well');
  expect(toMessage(incident, health, ['r-1', 'r-2'], NOW)).toBe(
    `Accounts API: The bank answers with errors

What is broken  It answered 503.
Cause           bank-error
Impact          Your apps still get data, 4 minutes old.
Since           2026-11-21T10:09:13Z (14 attempts)
Last success    2026-11-21T10:12:59Z
Time            2026-11-21T10:13:02.000Z
Request ids     r-1, r-2
Bank host       api.bank.example
Route           direct
Certificate     CN=m2m
Thumbprint      AB12 (SHA-1)
Valid to        2027-11-20T00:00:00Z
Gateway         accounts-gateway 0.1.0 production gw-2
`,
  );
});
