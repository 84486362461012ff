import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';

describe('the age of an instant', () => {
  it('is that of both clocks when they agree', () => {
    const clock = new FakeClock();
    const then = clock.now();
    clock.advance(1500);
    expect(clock.since(then)).toBe(1500);
  });

  it('follows the monotonic clock when the wall clock is set back', () => {
    const clock = new FakeClock();
    const then = clock.now();
    clock.advance(1500);
    clock.moveWall(-3_600_000);
    expect(clock.since(then)).toBe(1500);
  });

  it('follows the wall clock when the monotonic one stood still, as on a machine that slept', () => {
    const clock = new FakeClock();
    const then = clock.now();
    clock.moveWall(3_600_000);
    expect(clock.since(then)).toBe(3_600_000);
  });
});
