import { describe, expect, it } from '@jest/globals';
import { factsWith, failing, type FactsChange } from '../../../test/support/sample-facts.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { toFailureSeries } from './failure-series.js';
import { isReady, judgeHealth } from './judge-health.js';

const trouble = failing(new GatewayError('bank-error', 'It failed.'));
const expired = { servable: false };
const noToken = { state: 'none', expiresAt: null, expiresInSeconds: null } as const;
const redis = { state: 'fleet', lastStoredAt: null, lastTakenAt: null, reason: null } as const;

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
    const partsOf = (change: FactsChange) => Object.keys(judgeHealth(factsWith(change)).parts);
    const path = ['certificate', 'egress', 'token', 'bank', 'snapshot'];
    expect(partsOf({})).toEqual(path);
    const listener = { subject: 'CN=api', notAfter: '2027-09-17T00:00:00.000Z', daysLeft: 300, refused: null };
    expect(partsOf({ stopping: true, listener, sharing: { redis } })).toEqual([
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
