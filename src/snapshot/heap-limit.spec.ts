import { describe, expect, it } from '@jest/globals';
import { heapLimitMb } from './heap-limit.js';

describe('the heap limit of a list', () => {
  it.each<[string, number, number[], number]>([
    ['half of what a small container leaves', 1024, [], 312],
    ['the same beside the cached list, however large', 1024, [350], 312],
    ['what the lists of downloads leave', 1024, [312, 200], 112],
    ['at least 48 MB', 128, [48], 48],
    ['at most 1024 MB', 16_384, [1024], 1024],
  ])('is %s', (_what, memoryMb, heapsMb, limitMb) => {
    expect(heapLimitMb(memoryMb, heapsMb)).toBe(limitMb);
  });
});
