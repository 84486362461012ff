import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FakeClock } from '../../test/support/fake-clock.js';
import { BackOff } from './back-off.js';
import { GatewayError } from '../problems/gateway-error.js';
import { PROBLEM_CODES, type ProblemCode } from '../problems/problem-table.js';

const REFUSALS = ['credentials-rejected', 'certificate-rejected', 'address-not-allowed'] as const;
const failure = (retryAfterMs?: number) => new GatewayError('bank-unreachable', 'down', { retryAfterMs });
const refusal = (retryAfterMs?: number) => new GatewayError('credentials-rejected', 'no', { retryAfterMs });

/** The waits after `times` failures of one kind, each tried again as soon as it may be. */
function waits(times: number, error: () => GatewayError, random = 0): (number | undefined)[] {
  const clock = new FakeClock();
  const backOff = new BackOff(clock, () => random);
  return Array.from({ length: times }, () => {
    const { retryAfterMs } = backOff.failed(error());
    clock.advance(retryAfterMs ?? 0);
    return retryAfterMs;
  });
}

describe('the steps of waiting', () => {
  it('after failures are 1, 2, 4, 8, 16 s and then 30 s', () => {
    expect(waits(7, failure)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  it('after refusals are 30, 60, 120, 240 s and then 300 s', () => {
    expect(waits(6, refusal)).toEqual([30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
  });

  it.each(PROBLEM_CODES)('%s is a refusal only if it is one of credentials, certificate or address', (code) => {
    const isRefusal = (REFUSALS as readonly ProblemCode[]).includes(code);
    expect(waits(1, () => new GatewayError(code, ''))).toEqual([isRefusal ? 30_000 : 1000]);
  });

  it('begin again when the kind of failure changes', () => {
    const backOff = new BackOff(new FakeClock(), () => 0);
    const steps = [failure(), failure(), refusal(), refusal(), failure()].map((e) => backOff.failed(e).retryAfterMs);
    expect(steps).toEqual([1000, 2000, 30_000, 60_000, 1000]);
  });

  it('begin again after a success', () => {
    const backOff = new BackOff(new FakeClock(), () => 0);
    backOff.failed(failure());
    backOff.failed(failure());
    backOff.succeeded();
    expect(backOff.failed(failure()).retryAfterMs).toBe(1000);
  });

  it('stay at the last step however many failures there are', () => {
    expect(waits(2000, failure).at(-1)).toBe(30_000);
  });
});

describe('the jitter', () => {
  it('makes a step up to a fifth longer', () => {
    expect(waits(3, failure, 1)).toEqual([1200, 2400, 4800]);
  });

  it('never makes a step shorter, nor longer than the longest', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean(), (random, refused) => {
        const [first, max] = refused ? [30_000, 300_000] : [1000, 30_000];
        waits(8, refused ? refusal : failure, random).forEach((wait, index) => {
          const step = Math.min(max, first * 2 ** index);
          expect(wait).toBeGreaterThanOrEqual(step);
          expect(wait).toBeLessThanOrEqual(Math.min(max, step * 1.2));
        });
      }),
      { numRuns: 50 },
    );
  });
});

describe('a Retry-After of the bank', () => {
  it('rules over the step', () => {
    expect(waits(2, () => failure(7000), 1)).toEqual([7000, 7000]);
  });

  it('rules over the step of a refusal too', () => {
    expect(waits(1, () => refusal(7000))).toEqual([7000]);
  });

  it.each([301_000, 1e12, Infinity])('of %p ms counts as 300 s', (retryAfterMs) => {
    expect(waits(1, () => failure(retryAfterMs))).toEqual([300_000]);
  });

  it('of nothing does not make a tight loop', () => {
    expect(waits(2, () => failure(0))).toEqual([1000, 1000]);
  });

  it('counts as a failure, so that the steps go on from there', () => {
    const backOff = new BackOff(new FakeClock(), () => 0);
    backOff.failed(failure(7000));
    expect(backOff.failed(failure()).retryAfterMs).toBe(2000);
  });
});

describe('while waiting', () => {
  it('the error is given with the time that is left', () => {
    const clock = new FakeClock();
    const backOff = new BackOff(clock, () => 0);
    backOff.failed(new GatewayError('bank-unreachable', 'the bank answered 503', { owner: 'bank' }));
    clock.advance(400);
    expect(backOff.waiting).toMatchObject({
      code: 'bank-unreachable',
      detail: 'the bank answered 503',
      owner: 'bank',
      retryAfterMs: 600,
    });
  });

  it('it lasts to the last millisecond and no longer', () => {
    const clock = new FakeClock();
    const backOff = new BackOff(clock, () => 0);
    backOff.failed(failure());
    clock.advance(999);
    expect(backOff.waiting).not.toBeNull();
    clock.advance(1);
    expect(backOff.waiting).toBeNull();
  });

  it('a wall clock that is set back does not prolong it', () => {
    const clock = new FakeClock();
    const backOff = new BackOff(clock, () => 0);
    backOff.failed(failure());
    clock.moveWall(-3_600_000);
    clock.advance(1000);
    expect(backOff.waiting).toBeNull();
  });

  it('nobody waits before a failure', () => {
    expect(new BackOff(new FakeClock()).waiting).toBeNull();
  });

  it('a success ends it', () => {
    const backOff = new BackOff(new FakeClock());
    backOff.failed(failure());
    backOff.succeeded();
    expect(backOff.waiting).toBeNull();
    expect(backOff.lastError).toBeNull();
  });
});

describe('ending the wait', () => {
  it('lets the next one ask at once', () => {
    const backOff = new BackOff(new FakeClock());
    backOff.failed(refusal());
    backOff.resetBackOff();
    expect(backOff.waiting).toBeNull();
  });

  it('does not forget the failure: the next wait is a step longer', () => {
    const backOff = new BackOff(new FakeClock(), () => 0);
    backOff.failed(refusal());
    backOff.resetBackOff();
    expect(backOff.lastError?.code).toBe('credentials-rejected');
    expect(backOff.failed(refusal()).retryAfterMs).toBe(60_000);
  });

  it('does nothing where there is none', () => {
    const backOff = new BackOff(new FakeClock());
    backOff.resetBackOff();
    expect(backOff.circuit).toBe('closed');
  });
});

describe('the circuit', () => {
  it('is closed, open while waiting, half-open until the probe, and closed by its success', () => {
    const clock = new FakeClock();
    const backOff = new BackOff(clock, () => 0);
    const seen = [backOff.circuit];
    backOff.failed(failure());
    seen.push(backOff.circuit);
    clock.advance(1000);
    seen.push(backOff.circuit);
    backOff.succeeded();
    seen.push(backOff.circuit);
    expect(seen).toEqual(['closed', 'open', 'half-open', 'closed']);
  });

  it('opens again when the probe fails', () => {
    const clock = new FakeClock();
    const backOff = new BackOff(clock, () => 0);
    backOff.failed(failure());
    clock.advance(1000);
    backOff.failed(failure());
    expect(backOff.circuit).toBe('open');
  });
});

describe('the status', () => {
  it('is empty while nothing fails', () => {
    const none = { failingSince: null, attempts: 0, nextAttemptAt: null, lastError: null };
    const backOff = new BackOff(new FakeClock());
    expect(backOff.status()).toEqual(none);
    backOff.failed(failure());
    backOff.succeeded();
    expect(backOff.status()).toEqual(none);
  });

  it('counts over failures of every kind, since the first', () => {
    const clock = new FakeClock();
    const backOff = new BackOff(clock, () => 0);
    backOff.failed(failure());
    clock.advance(2000);
    backOff.failed(refusal());
    expect(backOff.status()).toEqual({
      failingSince: '2026-11-21T08:00:00.000Z',
      attempts: 2,
      nextAttemptAt: '2026-11-21T08:00:32.000Z',
      lastError: { code: 'credentials-rejected', at: '2026-11-21T08:00:02.000Z' },
    });
  });
});
