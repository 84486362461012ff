import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { snapshotOf } from '../../test/support/sample-snapshots.js';
import { CachedSnapshot } from './cached-snapshot.js';

const LIMITS = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 };

function start() {
  const clock = new FakeClock();
  const cached = new CachedSnapshot(clock, LIMITS);
  const take = () => snapshotOf([], true, clock.now());
  return { clock, cached, take };
}

describe('the cached snapshot', () => {
  it.each([
    ['the wall clock', (clock: FakeClock) => clock.moveWall(300_001)],
    ['the monotonic clock', (clock: FakeClock) => clock.moveMonotonic(300_001)],
  ])('is not served when %s alone says that it is too old', (_name, move) => {
    const { clock, cached, take } = start();
    cached.replace(take());
    move(clock);
    expect(cached.servable).toBeNull();
  });

  it('is replaced by a newer one, and by one of the same moment, never by an older one', () => {
    const { clock, cached, take } = start();
    const older = take();
    clock.advance(1);
    const [newer, same] = [take(), take()];
    expect([cached.replace(newer), cached.replace(older)]).toEqual([newer, newer]);
    expect(cached.replace(same)).toBe(same);
  });

  it('has no age below zero when the wall clock was set back, and is replaced', () => {
    const { clock, cached, take } = start();
    cached.replace(take());
    clock.moveWall(-3_600_000);
    expect(cached.ageMs).toBe(0);
    clock.advance(1000);
    const after = take();
    expect(cached.replace(after)).toBe(after);
  });
});
