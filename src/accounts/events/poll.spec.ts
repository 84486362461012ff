import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GatewayError } from '../../problems/gateway-error.js';
import { Poll } from './poll.js';

const FRESH_MS = 10_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A keeper whose reading is as old as the test says, and a poll of it. */
function scene(freshMs = FRESH_MS) {
  let ageMs = 0;
  let looks = 0;
  const readings: number[] = [];
  const keepFresh = () => {
    if (ageMs <= freshMs) return freshMs - ageMs + 1;
    readings.push(performance.now());
    return freshMs;
  };
  const poll = new Poll({ keepFresh }, freshMs, () => (looks += 1));
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 10) {
      ageMs += 10;
      jest.advanceTimersByTime(10);
    }
  };
  const read = () => {
    ageMs = 0;
    poll.restart();
  };
  return { poll, readings, pass, read, looks: () => looks };
}

describe('the poll', () => {
  it('has a reading made when what is held is old, and not before', () => {
    const { poll, readings, pass } = scene();
    poll.start();
    pass(FRESH_MS);
    expect(readings).toHaveLength(0);
    pass(20);
    expect(readings).toHaveLength(1);
  });

  it('a reading that a caller caused begins the period again', () => {
    const { poll, readings, pass, read } = scene();
    poll.start();
    pass(FRESH_MS - 100);
    read();
    pass(FRESH_MS - 100);
    expect(readings).toHaveLength(0);
    pass(200);
    expect(readings).toHaveLength(1);
  });

  it('looks once a second meanwhile, and not at all when it is stopped or was never started', () => {
    const { poll, readings, pass, read, looks } = scene();
    read();
    pass(3 * FRESH_MS);
    expect([looks(), readings]).toEqual([0, []]);
    poll.start();
    poll.start();
    const atStart = looks();
    pass(5000);
    expect(looks() - atStart).toBe(5);
    poll.stop();
    pass(3 * FRESH_MS);
    expect(looks() - atStart).toBe(5);
  });

  it('a reading that failed without asking the bank is not made again at once, nor later than it should', () => {
    const { poll, readings, pass } = scene();
    poll.start();
    pass(FRESH_MS + 20);
    poll.failed(new GatewayError('credentials-rejected', 'as scripted', { retryAfterMs: 5000 }));
    const before = readings.length;
    pass(4500);
    expect(readings.length).toBeLessThanOrEqual(before);
    pass(1500);
    expect(readings.length).toBeGreaterThan(before);
    // a new certificate may come before the wait of the old one is over
    poll.failed(new GatewayError('certificate-rejected', 'as scripted', { retryAfterMs: 300_000 }));
    const then = readings.length;
    pass(FRESH_MS + 1000);
    expect(readings.length).toBeGreaterThan(then);
  });

  it('with the shortest SNAPSHOT_FRESH_MS it still waits a little', () => {
    const { poll, readings, pass, read } = scene(0);
    poll.start();
    for (let round = 0; round < 100; round++) {
      read();
      pass(10);
    }
    expect(readings.length).toBeLessThanOrEqual(20);
  });
});
