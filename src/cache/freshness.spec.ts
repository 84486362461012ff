import { describe, expect, it } from '@jest/globals';
import {
  ANY,
  maxAgeWithoutRefreshMs,
  maxCachedAgeMs,
  maxLeadMs,
  readCacheDirectives,
  satisfies,
  type Freshness,
} from './freshness.js';

const LIMITS = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 };
const NO_CACHE: Freshness = { ...ANY, noCache: true };
const maxAge = (seconds: number): Freshness => ({ ...ANY, maxAge: seconds });

describe('Cache-Control of a request', () => {
  it.each([
    ['no-cache', { ...ANY, noCache: true }],
    ['No-Cache', { ...ANY, noCache: true }],
    ['max-age=5', { ...ANY, maxAge: 5 }],
    ['max-age=0', { ...ANY, maxAge: 0 }],
    ['MAX-AGE="7"', { ...ANY, maxAge: 7 }],
    ['only-if-cached', { ...ANY, onlyIfCached: true }],
    [' no-cache ,max-age=5,  only-if-cached', { noCache: true, maxAge: 5, onlyIfCached: true }],
    ['no-store, no-cache', { ...ANY, noCache: true }],
    ['max-age=9999999999999999', { ...ANY, maxAge: 1e16 }],
  ])('%j', (header, expected) => {
    expect(readCacheDirectives(header)).toEqual(expected);
  });

  it.each([undefined, '', 'no-store', 'no-transform', 'max-stale=60', 'nocache', 'x-max-age=5', 'no-cached'])(
    '%j has no effect',
    (header) => {
      expect(readCacheDirectives(header)).toEqual(ANY);
    },
  );

  it.each(['max-age', 'max-age=', 'max-age=-1', 'max-age=1.5', 'max-age=abc'])(
    '%j is invalid and counts as 0',
    (header) => {
      expect(readCacheDirectives(header).maxAge).toBe(0);
    },
  );
});

describe('the maximum age of a copy that is served without a refresh', () => {
  it.each<[string, Freshness, durationMs: number, ageMs: number]>([
    ['is SNAPSHOT_FRESH_MS without Cache-Control', ANY, 0, 10_000],
    ['is a second with no-cache', NO_CACHE, 0, 1000],
    ['is the duration of a slow refresh with no-cache', NO_CACHE, 3000, 3000],
    ['is max-age if that is smaller', maxAge(5), 0, 5000],
    ['is SNAPSHOT_FRESH_MS if max-age is larger', maxAge(3600), 0, 10_000],
  ])('%s', (_name, wanted, durationMs, ageMs) => {
    expect(maxCachedAgeMs(wanted, durationMs, LIMITS)).toBe(ageMs);
  });

  it('is never more than SNAPSHOT_MAX_AGE_MS', () => {
    const limits = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 500 };
    expect([ANY, NO_CACHE, maxAge(5)].map((wanted) => maxCachedAgeMs(wanted, 3000, limits))).toEqual([500, 500, 500]);
  });

  it('is set by the caller alone with only-if-cached', () => {
    expect([ANY, NO_CACHE, maxAge(5)].map((wanted) => maxAgeWithoutRefreshMs(wanted, 3000))).toEqual([
      Infinity,
      3000,
      5000,
    ]);
  });
});

describe('a refresh in flight', () => {
  it('is joined if it began at most max-age ago', () => {
    expect([maxAge(5), maxAge(0), NO_CACHE, ANY].map(maxLeadMs)).toEqual([5000, 0, Infinity, Infinity]);
  });
});

describe('the result of a refresh', () => {
  it.each<[Freshness, leadMs: number, durationMs: number, expected: boolean]>([
    [ANY, -5, 20, true],
    [ANY, 300_000, 20, true],
    [ANY, 300_001, 20, false],
    // a slow refresh is fresh for the callers who waited for it
    [ANY, 400_000, 400_000, true],
    [NO_CACHE, 1000, 20, true],
    [NO_CACHE, 1001, 20, false],
    [NO_CACHE, 3000, 3000, true],
    [maxAge(0), -5, 20, true],
    [maxAge(0), 0, 20, true],
    [maxAge(0), 1, 20, false],
    [maxAge(5), 5000, 20, true],
    [maxAge(5), 5001, 20, false],
    [maxAge(5), 5001, 9000, false],
  ])(
    'for %j, begun %i ms before the request and taking %i ms, satisfies the caller: %p',
    (wanted, leadMs, durationMs, expected) => {
      expect(satisfies(wanted, leadMs, durationMs, LIMITS)).toBe(expected);
    },
  );
});
