import type { ProblemEntry } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';

/** The time of the samples, ms. */
export const NOW = Date.parse('2026-11-21T10:13:02Z');

/** A healthy gateway at 10:13:02, with these changes, for specs. */
export function healthWith(status: Health['status'], change: Readonly<Record<string, object>> = {}): Health {
  const base = {
    certificate: {
      status: 'up',
      subject: 'CN=m2m',
      thumbprint: 'AB12',
      notAfter: '2027-11-20T00:00:00.000Z',
      daysLeft: 364,
      next: null,
    },
    egress: { status: 'up', route: 'direct', publicAddress: '203.0.113.7' },
    token: { status: 'up', host: 'auth.bank.example', state: 'usable', expiresInSeconds: 200 },
    bank: {
      status: 'up',
      mode: 'live',
      host: 'api.bank.example',
      support: 'Desk, +45 70 10 00 00',
      lastSuccessAt: '2026-11-21T10:09:01.000Z',
      failingSince: null,
      attempts: null,
      nextAttemptAt: null,
    },
    snapshot: {
      status: 'up',
      asOf: '2026-11-21T10:12:58.000Z',
      expiresAt: '2026-11-21T10:17:58.000Z',
      accounts: 120,
      stale: false,
    },
  };
  const details = Object.entries(base).map(([name, part]) => [name, { ...part, ...change[name] }]);
  return {
    status,
    info: {},
    error: {},
    version: '0.1.0',
    commit: 'abc1234',
    environment: 'production',
    instance: 'gw-2',
    details: { ...change, ...Object.fromEntries(details) } as unknown as Health['details'],
  };
}

/** A failure of the account list since 10:09:13, as /health shows it at `bank`. */
export const FAILING = {
  bank: {
    status: 'degraded',
    code: 'bank-error',
    owner: 'bank',
    detail: 'The account list answered 503.',
    failingSince: '2026-11-21T10:09:13.000Z',
    attempts: 14,
    nextAttemptAt: '2026-11-21T10:13:14.000Z',
  },
} as const;

/** The snapshot as a copy of 10:09:01 that expires then. */
export const copyUntil = (at: string, code = 'bank-error') => ({
  snapshot: {
    status: 'degraded',
    code,
    owner: 'bank',
    stale: true,
    asOf: '2026-11-21T10:09:01.000Z',
    expiresAt: `2026-11-21T${at}.000Z`,
  },
});

const entry = (code: string, status: number | null, title: string) => ({ code, status, title });

export const PROBLEMS = [
  entry('bank-error', 503, 'The bank returned a server error'),
  entry('bank-slow', null, 'The bank is slow'),
  entry('bank-refused', 502, 'The bank refused the call'),
  entry('credentials-rejected', 502, 'The bank rejected the user name or password'),
  entry('access-not-granted', 502, 'The bank has granted no accounts'),
  entry('accounts-emptied', null, 'The bank lists no accounts'),
  entry('certificate-expiring', null, 'A certificate expires soon'),
] as unknown as ProblemEntry[];
