import { describe, expect, it } from '@jest/globals';
import { snapshotOf } from '../../test/support/sample-snapshots.js';
import type { ServedSnapshot } from '../cache/snapshot-service.js';
import { matchesTag, toCacheHeaders } from './cache-headers.js';

const SERVED: ServedSnapshot = { snapshot: snapshotOf([]), stale: false, cache: 'hit', failure: null, retryInMs: 0 };

const headersOf = (change: Partial<ServedSnapshot>, ageMs = 2500) =>
  toCacheHeaders({ ...SERVED, ...change }, ageMs, { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 });

describe('the headers of a cached response', () => {
  it('contain the age, and the freshness from which a cache subtracts it', () => {
    expect(headersOf({})).toMatchObject({
      age: '2',
      'cache-control': 'private, max-age=10',
      'snapshot-stale': 'false',
    });
    expect(headersOf({ stale: true }, 20_000)).toMatchObject({
      age: '20',
      'cache-control': 'private, max-age=21',
      'snapshot-stale': 'true',
    });
    // the bank is asked again in 4.2 s
    expect(headersOf({ stale: true, retryInMs: 4200 }, 20_900)).toMatchObject({
      age: '20',
      'cache-control': 'private, max-age=25',
    });
    // longer than it is fresh: the answer of a slow refresh
    expect(headersOf({}, 12_000)).toMatchObject({ age: '12', 'cache-control': 'private, max-age=10' });
  });

  it('contain the time at which the snapshot stops being served', () => {
    const snapshot = { ...snapshotOf([]), asOf: '2026-11-21T08:00:00.000Z' };
    expect(headersOf({ snapshot })['snapshot-expires-at']).toBe('2026-11-21T08:05:00.000Z');
  });
});

describe('Cache-Status', () => {
  it.each<[Partial<ServedSnapshot>, string]>([
    [{}, 'hit; ttl=7'],
    [{ cache: 'miss' }, 'fwd=miss; ttl=7'],
    [{ cache: 'refreshed' }, 'fwd=stale; ttl=7'],
    [{ cache: 'request' }, 'fwd=request; ttl=7'],
    [{ cache: 'hit', failure: 'bank-error', stale: true }, 'hit; ttl=0; detail=bank-error'],
    [{ cache: 'refreshed', failure: 'bank-error', stale: true }, 'fwd=stale; ttl=0; detail=bank-error'],
    // too many callers are already waiting: the cache forwards nothing
    [{ cache: 'refreshed', failure: 'overloaded', stale: true }, 'hit; ttl=0; detail=overloaded'],
  ])('for %j is %s', ({ ...change }, status) => {
    expect(headersOf(change)['cache-status']).toBe(`accounts-gateway; ${status}`);
  });
});

describe('If-None-Match', () => {
  it.each(['W/"a"', '"a"', '"b", W/"a"', ' * '])('%j matches', (header) => {
    expect(matchesTag(header, 'W/"a"')).toBe(true);
  });

  it.each([undefined, '', '"b"', 'a', 'W/"A"'])('the negative case: %j does not', (header) => {
    expect(matchesTag(header, 'W/"a"')).toBe(false);
  });
});
