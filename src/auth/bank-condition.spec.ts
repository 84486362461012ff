import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { GatewayError } from '../errors/gateway-error.js';
import { BankCondition } from './bank-condition.js';

const down = new GatewayError('bank-unreachable', 'down');

function begin() {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 8));
  const log = keepLines();
  return { clock, log, condition: new BankCondition(clock, log) };
}

describe('a series of failures', () => {
  it('is reported once, at the first', () => {
    const { log, condition } = begin();
    condition.failed('token', down);
    condition.failed('token', down);
    condition.failed('refresh', down);
    expect(log.lines('bank.unavailable')).toEqual([
      expect.objectContaining({ level: 'warn', code: 'bank-unreachable', owner: 'network', work: 'token' }),
    ]);
  });

  it.each(['credentials-rejected', 'access-not-granted', 'proxy-refused'] as const)(
    'is logged as an error for %s',
    (code) => {
      const { log, condition } = begin();
      condition.failed('token', new GatewayError(code, 'no'));
      expect(log.lines('bank.unavailable')).toEqual([expect.objectContaining({ level: 'error' })]);
    },
  );

  it('ends, logged once, when each kind of call that failed has succeeded', () => {
    const { log, condition } = begin();
    condition.failed('token', down);
    condition.failed('refresh', down);
    condition.succeeded('token');
    expect([condition.status().errors, log.lines('bank.recovered').length]).toEqual([[down], 0]);
    condition.succeeded('refresh');
    condition.succeeded('refresh');
    expect([condition.status().errors, log.lines('bank.recovered').length]).toEqual([[], 1]);
  });
});

describe('the state', () => {
  it('shows the last success and the last failure', () => {
    const { clock, condition } = begin();
    expect(condition.status()).toEqual({ errors: [], lastSuccessAt: null, lastError: null });
    condition.succeeded('token');
    clock.advance(1000);
    condition.failed('refresh', down);
    expect(condition.status()).toEqual({
      errors: [down],
      lastSuccessAt: '2026-11-21T08:00:00.000Z',
      lastError: { code: 'bank-unreachable', at: '2026-11-21T08:00:01.000Z' },
    });
  });
});
