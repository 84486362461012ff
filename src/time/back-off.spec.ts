import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { GatewayError } from '../errors/gateway-error.js';
import { PROBLEM_CODES, type ProblemCode } from '../errors/problem-table.js';
import { BackOff } from './back-off.js';

const REJECTIONS = new Set<ProblemCode>(['credentials-rejected', 'certificate-rejected', 'address-not-allowed']);
const failure = (retryAfterMs?: number) => new GatewayError('bank-unreachable', 'down', { retryAfterMs });
const rejection = (retryAfterMs?: number) => new GatewayError('credentials-rejected', 'no', { retryAfterMs });
const times = <T>(count: number, create: () => T): T[] => Array.from({ length: count }, create);

function start(random = 0) {
  const clock = new FakeClock();
  const backOff = new BackOff(clock, () => random);
  return { clock, backOff };
}

/** The waits after these failures, with each retry as early as possible. */
function waits(errors: readonly GatewayError[], random = 0): (number | undefined)[] {
  const { clock, backOff } = start(random);
  return errors.map((error) => {
    const { retryAfterMs } = backOff.failed(error);
    clock.advance(retryAfterMs ?? 0);
    return retryAfterMs;
  });
}

describe('the waits of a back-off', () => {
  it.each<[string, GatewayError[], number[]]>([
    ['after failures', times(7, failure), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
    ['after rejections', times(6, rejection), [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]],
    [
      'begin again when the kind changes',
      [failure(), failure(), rejection(), rejection(), failure()],
      [1000, 2000, 30_000, 60_000, 1000],
    ],
    ['are the Retry-After of the bank, which counts as a step', [failure(7000), failure()], [7000, 2000]],
    [
      'after a rejection are the longer of both',
      [rejection(0), rejection(7000), rejection(200_000)],
      [30_000, 60_000, 200_000],
    ],
    ['are at most 300 s', [301_000, 1e12, Infinity].map(failure), [300_000, 300_000, 300_000]],
    ['make no tight loop', [failure(0), failure(0)], [1000, 1000]],
  ])('%s', (_name, errors, expected) => {
    expect(waits(errors)).toEqual(expected);
  });

  it.each(PROBLEM_CODES)('after %s are long only for rejected credentials, certificate or address', (code) => {
    expect(waits([new GatewayError(code, '')])).toEqual([REJECTIONS.has(code) ? 30_000 : 1000]);
  });

  it('after a rejection that is only inferred equal those after a failure', () => {
    expect(waits([new GatewayError('certificate-rejected', '', { isRejection: false })])).toEqual([1000]);
  });

  it('start over after a success, and stay at the last step however many failures follow', () => {
    const { backOff } = start();
    times(2000, () => backOff.failed(failure()));
    expect(backOff.failed(failure()).retryAfterMs).toBe(30_000);
    backOff.succeeded();
    expect(backOff.failed(failure()).retryAfterMs).toBe(1000);
  });

  it('are extended by up to a fifth through jitter, but never beyond the last step', () => {
    expect(waits(times(6, failure), 1)).toEqual([1200, 2400, 4800, 9600, 19_200, 30_000]);
    expect(waits(times(5, rejection), 1)).toEqual([36_000, 72_000, 144_000, 288_000, 300_000]);
  });
});

describe('during the back-off', () => {
  it('the error has the remaining time, to the millisecond', () => {
    const { clock, backOff } = start();
    expect([backOff.failureNow(), backOff.trouble()]).toEqual([null, null]);
    backOff.failed(new GatewayError('bank-unreachable', 'the bank answered 503'));
    clock.advance(400);
    const detail = 'the bank answered 503';
    expect(backOff.failureNow()).toMatchObject({ code: 'bank-unreachable', detail, retryAfterMs: 600 });
    clock.advance(599);
    expect([backOff.failureNow()?.retryAfterMs, backOff.trouble()?.circuit]).toEqual([1, 'open']);
    clock.advance(1);
    expect([backOff.failureNow(), backOff.trouble()?.circuit]).toEqual([null, 'half-open']);
    // the probe fails, then succeeds
    backOff.failed(failure());
    expect(backOff.trouble()?.circuit).toBe('open');
    backOff.succeeded();
    expect([backOff.failureNow(), backOff.trouble()]).toEqual([null, null]);
  });

  it('a wall clock that is set back does not prolong it', () => {
    const { clock, backOff } = start();
    backOff.failed(failure());
    clock.moveWall(-3_600_000);
    clock.advance(1000);
    expect(backOff.failureNow()).toBeNull();
  });

  it('a reset allows the next attempt at once, and keeps the failure', () => {
    const { backOff } = start();
    backOff.reset();
    expect(backOff.trouble()).toBeNull();
    backOff.failed(rejection());
    backOff.reset();
    expect([backOff.failureNow(), backOff.trouble()?.error.code]).toEqual([null, 'credentials-rejected']);
    expect(backOff.failed(rejection()).retryAfterMs).toBe(60_000);
  });
});

describe('a series of failures', () => {
  it('counts failures of every kind, since the first one, until a success', () => {
    const { clock, backOff } = start();
    backOff.failed(failure());
    clock.advance(2000);
    const error = backOff.failed(rejection());
    expect(backOff.trouble()).toEqual({
      error,
      circuit: 'open',
      since: '2026-11-21T08:00:00.000Z',
      attempts: 2,
      lastAt: '2026-11-21T08:00:02.000Z',
      retryAt: '2026-11-21T08:00:32.000Z',
    });
    backOff.succeeded();
    expect(backOff.trouble()).toBeNull();
  });
});
