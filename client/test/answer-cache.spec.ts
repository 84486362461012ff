import { describe, expect, it } from '@jest/globals';
import { AnswerCache } from '../src/answer-cache.js';

const answer = (length: number) => ({ etag: 'W/"1"', text: 'x'.repeat(length) });
const keptOf = (cache: AnswerCache, count: number) =>
  Array.from({ length: count }, (_none, index) => index).filter((index) => cache.get(String(index)) !== undefined);

describe('the cached responses', () => {
  it('are at most 100; the least recently used is dropped first', () => {
    const cache = new AnswerCache();
    for (let index = 0; index < 100; index += 1) cache.set(String(index), answer(1));
    cache.get('0');
    cache.set('100', answer(1));
    expect(keptOf(cache, 101)).toEqual([0, ...Array.from({ length: 99 }, (_none, index) => index + 2)]);
  });

  it('have at most 10 000 000 characters in total; a replaced response does not count', () => {
    const cache = new AnswerCache();
    for (let turn = 0; turn < 5; turn += 1) cache.set('0', answer(4_000_000));
    cache.set('1', answer(4_000_000));
    expect(keptOf(cache, 2)).toEqual([0, 1]);
    cache.set('2', answer(4_000_000));
    expect(keptOf(cache, 3)).toEqual([1, 2]);
    cache.set('3', answer(10_000_001));
    expect(cache.get('3')).toBeUndefined();
  });
});
