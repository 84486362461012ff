import { describe, expect, it } from '@jest/globals';
import { factsWith, failing, type FactsChange } from '../../../test/support/sample-facts.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { toFailureSeries } from './gateway-status.js';
import { judgeHealth } from './judge-health.js';
import { isReady } from './readiness.js';

const EXPIRED_AT = '2026-11-21T08:05:00.000Z';
const redis = { state: 'fleet', lastStoredAt: null, lastTakenAt: null, reason: null } as const;
const noSnapshot = { asOf: null, expiresAt: null, ageMs: null, accounts: null, servable: false };
const notConnected = { bank: { serverCertificateEnds: null } };

const partsOf = (change: FactsChange) => judgeHealth(factsWith(change)).parts;

/** The components `certificate egress token bank snapshot`, each as status:code. */
function judgePath(change: FactsChange): string {
  const parts = Object.values(partsOf(change));
  return parts.map(({ status, code }) => (code ? `${status}:${code}` : status)).join(' ');
}

describe('the path to the bank', () => {
  it.each<[string, FactsChange, string]>([
    ['healthy', {}, 'up up up up up'],
    [
      'before the first call',
      { ...notConnected, token: { state: 'none', trouble: null }, snapshot: noSnapshot },
      'up unknown unknown unknown unknown',
    ],
    [
      'during the first refresh',
      { ...notConnected, token: { state: 'requested' }, snapshot: noSnapshot },
      'up unknown unknown unknown unknown',
    ],
    [
      'during a first refresh whose token request hangs',
      {
        ...notConnected,
        token: { state: 'requested' },
        snapshot: { ...noSnapshot, slowSince: '2026-11-21T08:00:00.000Z' },
      },
      'up unknown degraded:bank-slow unknown down:bank-slow',
    ],
    [
      'a copy of another instance, before the first call',
      { ...notConnected, token: { state: 'none' } },
      'up unknown unknown up up',
    ],
    [
      'certificate expired, nothing cached',
      { snapshot: noSnapshot, certificate: { unusable: 'It has expired.' } },
      'down:certificate-unusable unknown unknown unknown down:certificate-unusable',
    ],
    ['certificate in its last 30 days', { certificate: { daysLeft: 29 } }, 'degraded:certificate-expiring up up up up'],
    [
      'new certificate rejected',
      { certificate: { rejected: { code: 'certificate-unusable', detail: 'No.' } } },
      'degraded:certificate-unusable up up up up',
    ],
    [
      'new password rejected',
      { certificate: { credentialsRejected: { code: 'credentials-rejected', detail: 'No.' } } },
      'up up degraded:credentials-rejected up up',
    ],
    [
      'token service fails, nothing cached',
      { snapshot: noSnapshot, token: { state: 'waiting', trouble: failing('bank-error') } },
      'up up down:bank-error unknown down:bank-error',
    ],
    [
      'token service fails, the old token is usable',
      { token: { trouble: failing('bank-error') } },
      'up up degraded:bank-error up up',
    ],
    [
      'proxy fails, nothing cached',
      { snapshot: noSnapshot, token: { state: 'waiting', trouble: failing('proxy-refused') } },
      'up down:proxy-refused unknown unknown down:proxy-refused',
    ],
    [
      'proxy fails under a usable token',
      { snapshot: { stale: true, trouble: failing('proxy-refused') } },
      'up degraded:proxy-refused up unknown degraded:proxy-refused',
    ],
    [
      'proxy fails after a token service that failed and whose old token is usable',
      { token: { trouble: failing('bank-error') }, snapshot: { stale: true, trouble: failing('proxy-refused') } },
      'up degraded:proxy-refused degraded:bank-error unknown degraded:proxy-refused',
    ],
    [
      'account list fails, stale copy served',
      { snapshot: { stale: true, trouble: failing('bank-error') } },
      'up up up degraded:bank-error degraded:bank-error',
    ],
    [
      'account list slow',
      { snapshot: { stale: true, slowSince: '2026-11-21T08:00:00.000Z' } },
      'up up up degraded:bank-slow degraded:bank-slow',
    ],
    [
      'token service slow',
      {
        token: { state: 'requested' },
        snapshot: { stale: true, slowSince: '2026-11-21T08:00:00.000Z' },
      },
      'up up degraded:bank-slow unknown degraded:bank-slow',
    ],
    [
      'the last refresh failed for want of a token, which is there again',
      { snapshot: { stale: true } },
      'up up up up up',
    ],
    ['no accounts after some', { snapshot: { accounts: 0, emptied: true } }, 'up up up up degraded:accounts-emptied'],
    ['no accounts since the start', { snapshot: { accounts: 0 } }, 'up up up up degraded:accounts-emptied'],
    [
      'an empty list served stale',
      { snapshot: { accounts: 0, stale: true, trouble: failing('bank-error') } },
      'up up up degraded:bank-error degraded:accounts-emptied',
    ],
    ['clocks 31 s apart', { bank: { clockSkewMs: -31_000 } }, 'up up up degraded:clock-skewed up'],
    ['clocks 30 s apart', { bank: { clockSkewMs: 30_000 } }, 'up up up up up'],
    ['snapshot file full', { sharing: { file: { failing: 'ENOSPC' } } }, 'up up up up degraded:snapshot-not-stored'],
    [
      'snapshot file full while a stale copy is served',
      { sharing: { file: { failing: 'ENOSPC' } }, snapshot: { stale: true, trouble: failing('bank-error') } },
      'up up up degraded:bank-error degraded:bank-error',
    ],
    ['idle past the maximum age', { snapshot: { servable: false } }, 'up up up up up'],
    [
      'idle past the maximum age and the end of the token',
      { token: { state: 'none', expiresAt: null, expiresInSeconds: null }, snapshot: { servable: false } },
      'up up up up up',
    ],
  ])('%s', (_name, change, expected) => {
    expect(judgePath(change)).toBe(expected);
  });

  it.each([
    ['behind', 600_400, "The clock of this machine is 600 s behind the bank's."],
    ['ahead', -45_000, "The clock of this machine is 45 s ahead of the bank's."],
  ])('reports how far our clock is %s', (_direction, clockSkewMs, detail) => {
    expect(partsOf({ bank: { clockSkewMs } }).bank).toMatchObject({ owner: 'operator', detail });
  });

  it.each([
    [true, 'It listed some before.'],
    [false, 'It has listed none since this process started.'],
  ])('reports for an empty list whether an earlier one had accounts: %p', (emptied, ending) => {
    const { detail } = partsOf({ snapshot: { accounts: 0, emptied } }).snapshot;
    expect(detail).toBe(`The bank lists no accounts. ${ending}`);
  });
});

it.each<[string, FactsChange, string]>([
  ['and a failed refresh', { snapshot: { trouble: failing('bank-error') } }, 'It failed.'],
  ['and no token', { token: { state: 'waiting', trouble: failing('bank-error') } }, 'It failed.'],
  ['and an unusable certificate', { certificate: { unusable: 'It is not valid yet.' } }, 'It is not valid yet.'],
])('past the maximum age %s, the snapshot shows when it expired, and why there is none', (_what, change, reason) => {
  const lost = { stale: false, servable: false, expiresAt: EXPIRED_AT };
  const { snapshot } = partsOf({ ...change, snapshot: { ...lost, ...change.snapshot } });
  expect(snapshot.status).toBe('down');
  expect(snapshot.detail).toBe(`The cached snapshot expired at ${EXPIRED_AT}. ${reason}`);
});

it.each<[string, string | null, string]>([
  ['a new certificate that has expired', 'AB12', 'The new certificate was rejected; the old one stays in use: No.'],
  ['a password file that is gone', null, 'The changed files cannot be used; the old ones stay in use: No.'],
])('names what was rejected: %s', (_name, thumbprint, detail) => {
  const next = {
    thumbprint,
    notAfter: null,
    state: 'refused',
    since: '2026-11-21T08:00:00.000Z',
    detail: 'No.',
  } as const;
  const certificate = { next, rejected: { code: 'certificate-unusable', detail: 'No.' } } as const;
  expect(partsOf({ certificate })['certificate']).toMatchObject({ code: 'certificate-unusable', detail });
});

describe('components outside the path', () => {
  const listener = { subject: 'CN=api', rejected: null, notAfter: '2027-01-01T00:00:00.000Z', daysLeft: 30 };
  it.each<[FactsChange, string]>([
    [{ listener }, 'up'],
    [{ listener: { ...listener, daysLeft: 29 } }, 'degraded:certificate-expiring'],
    [{ listener: { ...listener, rejected: 'no key' } }, 'degraded:certificate-unusable'],
    [{ sharing: { redis } }, 'up'],
    [{ sharing: { redis: { ...redis, reason: 'it did not answer in time' } } }, 'degraded:sharing-unavailable'],
  ])('with %j: %s', (change, expected) => {
    expect(judgePath(change)).toBe(`up up up up up ${expected}`);
  });
});

const trouble = failing(new GatewayError('bank-error', 'It failed.'));
const expired = { servable: false };
const noToken = { state: 'none', expiresAt: null, expiresInSeconds: null } as const;

const judge = (change: FactsChange) => {
  const facts = factsWith(change);
  return [judgeHealth(facts).status, isReady(facts)];
};

describe('the status', () => {
  it.each<[string, FactsChange, string, boolean]>([
    ['of a healthy gateway', {}, 'ok', true],
    ['of a gateway that nobody has called for hours', { token: noToken, snapshot: expired }, 'ok', true],
    ['while a copy is served', { token: { ...noToken, trouble }, snapshot: { stale: true } }, 'degraded', true],
    ['of an empty list', { snapshot: { accounts: 0 } }, 'degraded', true],
    [
      'with Redis unreachable',
      { sharing: { redis: { ...redis, state: 'unavailable', reason: 'refused' } } },
      'degraded',
      true,
    ],
    ['with Redis', { sharing: { redis } }, 'ok', true],
    ['while the old token is still valid', { token: { trouble }, snapshot: expired }, 'degraded', true],
    ['without a token, after a failure', { token: { ...noToken, trouble }, snapshot: expired }, 'error', false],
    ['after a failed refresh', { snapshot: { ...expired, trouble } }, 'error', false],
    ['with an expired certificate', { certificate: { unusable: 'Expired.' }, snapshot: expired }, 'error', false],
    ['before accounts were read', { snapshot: { ...expired, asOf: null } }, 'error', false],
    ['with an expired copy of an earlier run only', { snapshot: { ...expired, restored: true } }, 'error', false],
    ['while it stops', { stopping: true }, 'error', false],
  ])('%s: %#', (_name, change, status, ready) => {
    expect(judge(change)).toEqual([status, ready]);
  });

  it('has only the components that the gateway has', () => {
    const namesOf = (change: FactsChange) => Object.keys(partsOf(change));
    const path = ['certificate', 'egress', 'token', 'bank', 'snapshot'];
    expect(namesOf({})).toEqual(path);
    const listener = { subject: 'CN=api', notAfter: '2027-09-17T00:00:00.000Z', daysLeft: 300, rejected: null };
    expect(namesOf({ stopping: true, listener, sharing: { redis } })).toEqual([
      'instance',
      ...path,
      'listener',
      'sharing',
    ]);
  });
});

describe('the failures of token and list', () => {
  it('are merged: the earliest start, the most attempts, the later next attempt, the worse circuit', () => {
    const at = (seconds: number) => `2026-11-21T08:00:${seconds}.000Z`;
    const facts = factsWith({
      token: { trouble: { ...failing('bank-error', at(20)), attempts: 2, retryAt: at(50) } },
      snapshot: { trouble: { ...failing('bank-error', at(10)), attempts: 5, retryAt: at(40), circuit: 'half-open' } },
    });
    const merged = { failingSince: at(10), attempts: 5, nextAttemptAt: at(50), circuit: 'open' };
    expect(toFailureSeries(facts)).toEqual(merged);
  });

  it('are empty for a healthy gateway', () => {
    const none = { failingSince: null, attempts: null, nextAttemptAt: null, circuit: 'closed' };
    expect(toFailureSeries(factsWith({}))).toEqual(none);
  });
});
