import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { NoToken } from '../auth/authorized-call.js';
import type { IdentityHolder } from '../auth/identity-holder.js';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { Activity } from '../telemetry/activity.js';
import type { Log } from '../telemetry/log.js';
import { BankCondition } from './bank-condition.js';

const DOWN = new GatewayError('bank-error', 'The account list answered 503.', { upstreamStatus: 503 });

function begin() {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 8));
  const log = keepLines();
  const activity = new Activity();
  const identities = { current: { tokens: { usable: null as object | null } } };
  const settings = { SNAPSHOT_SOFT_TIMEOUT_MS: 1000 } as Settings;
  const condition = new BankCondition(activity, identities as IdentityHolder, clock, log as unknown as Log, settings);
  const token = (error: GatewayError | null = null, { tokens }: { tokens: object } = identities.current) =>
    activity.emit('tokenRequestEnded', { tokens, error });
  const refresh = (error: GatewayError | null = null, waitedMs = 20, replacedAgeMs: number | null = 11_000) =>
    activity.emit('refreshEnded', { ms: 5000, waitedMs, error, replacedAgeMs });
  const logged = () => [log.lines('bank.unavailable').length, log.lines('bank.recovered').length];
  return { clock, log, activity, identities, condition, token, refresh, logged };
}

describe('a series of failures', () => {
  it('is reported once, when it begins', () => {
    const { log, token, refresh } = begin();
    token(DOWN);
    token(DOWN);
    refresh(DOWN);
    const line = { level: 'warn', code: 'bank-error', owner: 'bank', target: 'token' };
    expect(log.lines('bank.unavailable')).toMatchObject([line]);
  });

  it.each(['credentials-rejected', 'access-not-granted', 'proxy-refused'] as const)(
    'is logged as an error for %s',
    (code) => {
      const { log, token } = begin();
      token(new GatewayError(code, 'no'));
      expect(log.lines('bank.unavailable')).toMatchObject([{ level: 'error' }]);
    },
  );

  it('ends, logged once, when each kind of request that failed has succeeded', () => {
    const { logged, token, refresh } = begin();
    token(DOWN);
    refresh(DOWN);
    token();
    expect(logged()).toEqual([1, 0]);
    refresh();
    refresh();
    expect(logged()).toEqual([1, 1]);
  });

  it('belongs to the current identity, and ends when a proved one takes over', () => {
    const { identities, logged, token } = begin();
    const candidate = { tokens: { usable: {} } };
    token(DOWN, candidate);
    expect(logged()).toEqual([0, 0]);
    token(DOWN);
    identities.current = candidate;
    token(null, candidate);
    expect(logged()).toEqual([1, 1]);
  });

  it('does not begin with a refresh without a token: the token request has already reported the failure', () => {
    const { condition, logged, refresh } = begin();
    refresh(new NoToken('credentials-rejected', 'no'));
    expect([condition.status().lastError, logged()]).toEqual([null, [0, 0]]);
  });
});

describe('the state', () => {
  it('shows the last success of each kind of request, and the last failure', () => {
    const { clock, condition, token, refresh } = begin();
    expect(condition.status()).toMatchObject({ lastSuccessAt: { token: null, accounts: null }, lastError: null });
    token();
    clock.advance(1000);
    refresh(DOWN);
    expect(condition.status()).toMatchObject({
      lastSuccessAt: { token: '2026-11-21T08:00:00.000Z', accounts: null },
      lastError: { code: 'bank-error', at: '2026-11-21T08:00:01.000Z', status: 503, target: 'accounts' },
    });
  });

  it('is slow from the first refresh past the soft timeout until two in a row are faster', () => {
    const { clock, condition, refresh } = begin();
    const slow = () => condition.status().slow;
    // nobody got a copy
    refresh(null, 3000, null);
    expect(slow()).toBeNull();
    clock.advance(3000);
    refresh(null, 3000, 14_000);
    const since = '2026-11-21T08:00:00.000Z';
    expect(slow()).toEqual({ since, copyAgeMs: 14_000 });
    refresh();
    refresh(null, 2000, 13_000);
    refresh();
    expect(slow()).toEqual({ since, copyAgeMs: 14_000 });
    refresh();
    expect(slow()).toBeNull();
  });
});
