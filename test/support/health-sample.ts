import { ALL_CODES } from '../../src/errors/problem-table.js';
import { toProblemEntry } from '../../src/errors/problem-document.js';
import type { RecentClient, Recent } from '../../src/pages/console/web/shared/gateway.js';
import type { Health } from '../../src/pages/console/web/shared/health.js';

/** The time of the samples, ms. */
export const NOW = Date.parse('2026-11-21T10:13:02Z');

/** A time on the day of the samples. */
export const at = (time: string): string => `2026-11-21T${time}.000Z`;

/** A healthy gateway at 10:13:02, with these changes. */
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
    egress: { status: 'up', route: 'direct', proxy: null, publicAddress: '203.0.113.7' },
    token: {
      status: 'up',
      host: 'auth.bank.example',
      state: 'usable',
      expiresInSeconds: 200,
      willFail: null,
      lastSuccessAt: at('10:11:22'),
      failingSince: null,
      lastError: null,
    },
    bank: {
      status: 'up',
      mode: 'live',
      host: 'api.bank.example',
      support: 'Desk, +45 70 10 00 00',
      statusPage: null,
      lastSuccessAt: at('10:12:58'),
      lastError: null,
      failingSince: null,
      listFailingSince: null,
      attempts: null,
      nextAttemptAt: null,
      slow: null,
    },
    snapshot: { status: 'up', asOf: at('10:12:58'), expiresAt: at('10:17:58'), accounts: 120, stale: false },
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

/** A problem of a component, as /health shows it. */
export function problem(
  code: (typeof ALL_CODES)[number],
  status: 'degraded' | 'down' = 'degraded',
  change: object = {},
) {
  const { owner, remedy } = toProblemEntry(code);
  return { status, code, owner, remedy, detail: `Detail of ${code}.`, ...change };
}

/** A failure of the account list since 10:09:13, as /health shows it at `bank`. */
export const failingList = (code: (typeof ALL_CODES)[number] = 'bank-error', answer: number | null = 503) => ({
  bank: problem(code, 'degraded', {
    lastSuccessAt: at('10:09:01'),
    lastError: { code, at: at('10:13:00'), status: answer, target: 'accounts' },
    failingSince: at('10:09:13'),
    listFailingSince: at('10:09:13'),
    attempts: 14,
    nextAttemptAt: at('10:13:14'),
  }),
});

/** A token request that fails since 10:09:13, and no usable token. */
export const failingToken = (code: (typeof ALL_CODES)[number], answer: number | null, change: object = {}) => ({
  token: problem(code, 'down', {
    state: 'waiting',
    expiresInSeconds: null,
    failingSince: at('10:09:13'),
    lastError: { code, at: at('10:13:00'), status: answer },
    ...change,
  }),
  bank: {
    status: 'unknown',
    lastError: { code, at: at('10:13:00'), status: answer, target: 'token' },
    failingSince: at('10:08:00'),
    listFailingSince: at('10:08:00'),
    attempts: 3,
  },
});

/** The snapshot as a copy from 10:09:01 that expires at this time. */
export const copyUntil = (time: string, code: (typeof ALL_CODES)[number] = 'bank-error') => ({
  snapshot: problem(code, 'degraded', { stale: true, asOf: at('10:09:01'), expiresAt: at(time) }),
});

/** The last hour with these callers. */
export const recentWith = (clients: readonly Partial<RecentClient>[], points: readonly object[] = []): Recent => ({
  everySeconds: 10,
  points: points as unknown as Recent['points'],
  present: { at: at('10:13:02'), requests: 0, current: 0, stale: 0, errors: 0, bankP50Ms: null } as Recent['present'],
  events: [],
  clients: clients.map((client) => ({
    name: 'treasury',
    callsPerMinute: 3,
    p99Ms: 4,
    current: 3,
    stale: 0,
    errors: 0,
    lastAt: at('10:12:59'),
    ...client,
  })),
});

/** The part of /problems that the page uses. */
export const PROBLEMS = ALL_CODES.map(toProblemEntry);
