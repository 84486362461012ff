import { describe, expect, it } from '@jest/globals';
import { snapshotOf } from '../../test/support/sample-snapshots.js';
import type { ServedSnapshot } from '../cache/snapshot-service.js';
import { matchesTag, toCacheHeaders } from './cache-headers.js';

const SERVED: ServedSnapshot = { snapshot: snapshotOf([]), stale: false, cache: 'hit', failure: null };

const headersOf = (change: Partial<ServedSnapshot>, ageMs = 2500) =>
  toCacheHeaders({ ...SERVED, ...change }, ageMs, 10_000);

describe('the headers of a cached response', () => {
  it('contain the age and the remaining freshness', () => {
    expect(headersOf({})).toMatchObject({ age: '2', 'cache-control': 'private, max-age=7', 'snapshot-stale': 'false' });
    expect(headersOf({ stale: true }, 20_000)).toMatchObject({
      age: '20',
      'cache-control': 'private, max-age=0',
      'snapshot-stale': 'true',
    });
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
