import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { TIMED_OUT, within } from './deadline.js';

describe('a wait', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([-0.8, 0, 1.5])('of %p ms ends, and its timer causes no warning from Node', async (ms) => {
    const set = jest.spyOn(globalThis, 'setTimeout');
    expect(await within(new Promise(() => undefined), ms)).toBe(TIMED_OUT);
    expect(set.mock.calls.map(([, delayMs]) => delayMs)).toEqual([Math.max(0, ms)]);
  });

  it('whose deadline has passed still returns a result that is already available', async () => {
    expect(await within(Promise.resolve('done'), -1)).toBe('done');
  });
});
