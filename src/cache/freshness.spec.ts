import { describe, expect, it } from '@jest/globals';
import { acceptsCopy, ANY, maxCachedAgeMs, NOW, readCacheDirectives, satisfies, type Freshness } from './freshness.js';

const LIMITS = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 };
const within = (maxAgeMs: number, maxStaleAgeMs = maxAgeMs): Freshness => ({ noCache: false, maxAgeMs, maxStaleAgeMs });

describe('Cache-Control of a request', () => {
  it.each([
    ['no-cache', NOW],
    ['No-Cache', NOW],
    ['max-age=0', NOW],
    ['max-age="0"', NOW],
    [' no-store ,max-age=5,  no-cache', NOW],
    ['no-cache, max-stale', NOW],
    ['max-age=0, max-stale', NOW],
    ['max-age=5', within(5000)],
    ['MAX-AGE="7"', within(7000)],
    ['max-age=5, max-age=259200', within(5000)],
    ['max-age=9999999999999999', within(1e19)],
    ['max-age=5, max-stale', within(5000, Infinity)],
    ['max-stale=60, max-age=5', within(5000, 65_000)],
  ])('%j', (header, expected) => {
    expect(readCacheDirectives(header)).toEqual(expected);
  });

  it.each([
    undefined,
    '',
    'no-store',
    'no-transform',
    'only-if-cached',
    'max-stale',
    'max-stale=60',
    'min-fresh=5',
    'nocache',
    'x-max-age=5',
    'no-cached',
  ])('%j has no effect', (header) => {
    expect(readCacheDirectives(header)).toEqual(ANY);
  });

  it.each(['max-age', 'max-age=', 'max-age=-1', 'max-age=1.5', 'max-age=abc', 'max-age="5'])(
    '%j is invalid and counts as 0',
    (header) => {
      expect(readCacheDirectives(header)).toEqual(NOW);
    },
  );
});

describe('the maximum age of a copy served without a refresh', () => {
  it.each<[string, Freshness, durationMs: number, ageMs: number]>([
    ['is SNAPSHOT_FRESH_MS without Cache-Control', ANY, 0, 10_000],
    ['is a second with no-cache', NOW, 0, 1000],
    ['is the duration of a slow refresh with no-cache', NOW, 3000, 3000],
    ['is max-age if that is smaller', within(5000), 0, 5000],
    ['is SNAPSHOT_FRESH_MS if max-age is larger', within(3_600_000), 0, 10_000],
  ])('%s', (_name, wanted, durationMs, ageMs) => {
    expect(maxCachedAgeMs(wanted, durationMs, LIMITS)).toBe(ageMs);
  });

  it('never exceeds SNAPSHOT_MAX_AGE_MS', () => {
    const limits = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 500 };
    expect([ANY, NOW, within(5000)].map((wanted) => maxCachedAgeMs(wanted, 3000, limits))).toEqual([500, 500, 500]);
  });
});

describe('the result of a refresh', () => {
  it.each<[Freshness, leadMs: number, durationMs: number, expected: boolean]>([
    [ANY, -5, 20, true],
    [ANY, 300_000, 20, true],
    [ANY, 300_001, 20, false],
    // a slow refresh is fresh for the callers who waited for it
    [ANY, 400_000, 400_000, true],
    [NOW, 1000, 20, true],
    [NOW, 1001, 20, false],
    [NOW, 3000, 3000, true],
    [within(5000), 5000, 20, true],
    [within(5000), 5001, 20, false],
    [within(5000), 5001, 9000, false],
    [within(259_200_000), 300_001, 20, false],
  ])(
    'satisfies a caller with %j if it began %i ms before the request and took %i ms: %p',
    (wanted, leadMs, durationMs, expected) => {
      expect(satisfies(wanted, leadMs, durationMs, LIMITS)).toBe(expected);
    },
  );
});

describe("another instance's copy", () => {
  it.each<[Freshness, leadMs: number, durationMs: number, expected: boolean]>([
    [ANY, 10_000, 20, true],
    [ANY, 10_001, 20, false],
    // already in flight when the refresh began
    [ANY, 10_001, 10_001, true],
    [within(5000), 5001, 10_000, false],
    [NOW, 1001, 1000, false],
    [NOW, 1001, 1001, true],
  ])('is accepted for %j if it began %i ms before and took %i ms: %p', (wanted, leadMs, durationMs, expected) => {
    expect(acceptsCopy(wanted, { leadMs, durationMs }, LIMITS)).toBe(expected);
  });
});
