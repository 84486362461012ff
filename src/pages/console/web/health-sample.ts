import type { Health } from './health.js';

type Details = Health['details'];

/** A healthy gateway at 10:13:00, with these changes, for specs. */
export function healthWith(status: Health['status'], change: Readonly<Record<string, object>> = {}): Health {
  const base = {
    certificate: {
      status: 'up',
      subject: 'CN=m2m',
      thumbprint: 'AB12',
      notAfter: '2027-11-20T00:00:00Z',
      daysLeft: 364,
    },
    egress: { status: 'up', route: 'direct' },
    token: { status: 'up', state: 'usable', expiresInSeconds: 200 },
    bank: { status: 'up', mode: 'live', host: 'api.bank.example', lastSuccessAt: '2026-11-21T10:12:59Z' },
    snapshot: {
      status: 'up',
      asOf: '2026-11-21T10:12:58Z',
      expiresAt: '2026-11-21T10:17:58Z',
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
    details: { ...change, ...Object.fromEntries(details) } as unknown as Details,
  };
}
