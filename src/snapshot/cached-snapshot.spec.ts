import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { CachedSnapshot } from './cached-snapshot.js';
import { ANY } from './freshness.js';
import { account, snapshotOf } from '../../test/support/sample-snapshots.js';

const LIMITS = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 };

function start() {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 8));
  const cached = new CachedSnapshot(clock, LIMITS);
  const take = (...ids: string[]) =>
    snapshotOf(
      ids.map((id) => account({ id })),
      true,
      clock.now(),
    );
  return { clock, cached, take };
}

describe('the cached snapshot', () => {
  it('is fresh, then old, then not served', () => {
    const { clock, cached, take } = start();
    const taken = cached.replace(take('a'));
    clock.advance(10_000);
    expect([cached.isFresh, cached.find(ANY)]).toEqual([true, taken]);
    clock.advance(1);
    expect([cached.isFresh, cached.find(ANY), cached.servable]).toEqual([false, null, taken]);
    clock.advance(290_000);
    expect([cached.servable, cached.snapshot]).toEqual([null, taken]);
    expect(cached.expiresAt).toBe('2026-11-21T08:05:00.000Z');
  });

  it.each([
    ['the wall clock', (clock: FakeClock) => clock.moveWall(300_001)],
    ['the monotonic clock', (clock: FakeClock) => clock.moveMonotonic(300_001)],
  ])('is not served when %s alone says that it is too old', (_name, move) => {
    const { clock, cached, take } = start();
    cached.replace(take('a'));
    move(clock);
    expect(cached.servable).toBeNull();
  });

  it('is replaced by a newer one, and by one of the same moment, never by an older one', () => {
    const { clock, cached, take } = start();
    const older = take('older');
    clock.advance(1);
    const [newer, same] = [take('newer'), take('same')];
    expect([cached.replace(newer), cached.replace(older), cached.replace(same)]).toEqual([newer, newer, same]);
  });

  it('has no age below zero when the wall clock was set back, and is replaced', () => {
    const { clock, cached, take } = start();
    cached.replace(take('before'));
    clock.moveWall(-3_600_000);
    expect(cached.ageMs).toBe(0);
    clock.advance(1000);
    const after = take('after');
    expect(cached.replace(after)).toBe(after);
  });

  it('of an earlier run is taken only where there is none, and satisfies nobody without a refresh', () => {
    const { cached, take } = start();
    const restored = take('a');
    expect([cached.restore(restored), cached.restore(take('b'))]).toEqual([true, false]);
    expect([cached.isRestored, cached.isFresh, cached.find(ANY), cached.servable]).toEqual([
      true,
      false,
      null,
      restored,
    ]);
    cached.replace(take('c'));
    expect([cached.isRestored, cached.isFresh]).toEqual([false, true]);
  });
});
