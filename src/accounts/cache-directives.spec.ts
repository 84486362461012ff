import { describe, expect, it } from '@jest/globals';
import { readCacheDirectives } from './cache-directives.js';

const NOTHING = { noCache: false, maxAge: null, onlyIfCached: false };

describe('what Cache-Control asks of us', () => {
  it.each([
    ['no-cache', { ...NOTHING, noCache: true }],
    ['No-Cache', { ...NOTHING, noCache: true }],
    ['max-age=5', { ...NOTHING, maxAge: 5 }],
    ['max-age=0', { ...NOTHING, maxAge: 0 }],
    ['MAX-AGE="7"', { ...NOTHING, maxAge: 7 }],
    ['only-if-cached', { ...NOTHING, onlyIfCached: true }],
    [' no-cache ,max-age=5,  only-if-cached', { noCache: true, maxAge: 5, onlyIfCached: true }],
    ['no-store, no-cache', { ...NOTHING, noCache: true }],
    ['max-age=9999999999999999', { ...NOTHING, maxAge: 1e16 }],
  ])('%j', (header, expected) => {
    expect(readCacheDirectives(header)).toEqual(expected);
  });

  it.each([undefined, '', 'no-store', 'no-transform', 'max-stale=60', 'nocache', 'x-max-age=5', 'no-cached'])(
    '%j asks nothing',
    (header) => {
      expect(readCacheDirectives(header)).toEqual(NOTHING);
    },
  );

  it.each(['max-age', 'max-age=', 'max-age=-1', 'max-age=1.5', 'max-age=abc'])(
    '%j is nonsense, and counts as 0',
    (header) => {
      expect(readCacheDirectives(header).maxAge).toBe(0);
    },
  );
});
