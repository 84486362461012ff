import { GatewayError } from '../../src/errors/gateway-error.js';
import type { ProblemCode } from '../../src/errors/problem-table.js';
import type { Trouble } from '../../src/time/back-off.js';
import type { GatewayFacts } from '../../src/operations/status/gateway-status.js';

/** A series of failures, since `since`. */
export const failing = (error: GatewayError | ProblemCode, since = '2026-11-21T08:00:00.000Z'): Trouble => ({
  error: typeof error === 'string' ? new GatewayError(error, 'It failed.') : error,
  circuit: 'open',
  since,
  attempts: 3,
  lastAt: since,
  retryAt: since,
});

/** The facts of a healthy gateway whose snapshot is fresh. */
export const healthyFacts: GatewayFacts = {
  at: Date.parse('2026-11-21T08:00:05.000Z'),
  stopping: false,
  certificate: {
    subject: 'CN=m2m',
    thumbprint: '4F7A86156DF1FE6FFB82BF2FF75F399656BE83BD',
    notAfter: '2027-09-17T00:00:00.000Z',
    daysLeft: 300,
    unusable: null,
    next: null,
    rejected: null,
    credentialsRejected: null,
  },
  token: {
    state: 'usable',
    expiresAt: Date.parse('2026-11-21T08:05:00.000Z'),
    usableUntil: Date.parse('2026-11-21T08:04:55.000Z'),
    expiresInSeconds: 295,
    trouble: null,
  },
  bank: {
    lastSuccessAt: { token: '2026-11-21T08:00:00.000Z', accounts: '2026-11-21T08:00:00.000Z' },
    lastError: null,
    slow: null,
    clockSkewMs: 0,
    serverCertificateEnds: Date.parse('2027-09-17T00:00:00.000Z'),
    drift: [],
    driftCount: 0,
  },
  snapshot: {
    asOf: '2026-11-21T08:00:00.000Z',
    expiresAt: '2026-11-21T08:05:00.000Z',
    ageMs: 5000,
    accounts: 3,
    servable: true,
    stale: false,
    emptied: false,
    complete: true,
    callersWaiting: 0,
    restored: false,
    isOfOtherInstance: false,
    slowSince: null,
    trouble: null,
  },
  listener: null,
  sharing: { redis: null, file: null },
};

export type FactsChange = { readonly [Name in keyof GatewayFacts]?: Partial<GatewayFacts[Name]> | GatewayFacts[Name] };

/** Healthy facts with these changes, merged by component. */
export function factsWith(change: FactsChange): GatewayFacts {
  const changed = Object.entries(change).map(([name, value]) => {
    const before = healthyFacts[name as keyof GatewayFacts];
    const merge = typeof before === 'object' && before !== null && typeof value === 'object' && value !== null;
    return [name, merge ? { ...before, ...value } : value];
  });
  return { ...healthyFacts, ...(Object.fromEntries(changed) as Partial<GatewayFacts>) };
}
