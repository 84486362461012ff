import { describe, expect, it } from '@jest/globals';
import { heapLimitMb } from './heap-limit.js';

describe('the heap limit of a list', () => {
  it.each([
    ['half of what a small container leaves', 768, 0, 272],
    ['the same beside the cached list, however large', 768, 272, 272],
    ['what the lists of downloads leave', 768, 272 + 150, 122],
    ['at least 48 MB', 128, 48, 48],
    ['at most 1024 MB', 16_384, 1024, 1024],
  ])('is %s', (_what, memoryMb, usedMb, limitMb) => {
    expect(heapLimitMb(memoryMb, usedMb)).toBe(limitMb);
  });
});
