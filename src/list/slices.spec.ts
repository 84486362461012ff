import { describe, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { inSlices } from './slices.js';

describe('work in slices', () => {
  it('returns its result, and lets other work run in between', async () => {
    const order: string[] = [];
    const work = function* () {
      while (!order.includes('other')) yield;
      return 'done';
    };
    void setImmediate().then(() => order.push('other'));
    expect(await inSlices(work())).toBe('done');
  });

  it('is not begun for a call that was canceled while other work ran', async () => {
    const left = new AbortController();
    let begun = false;
    const work = function* () {
      begun = true;
      yield;
    };
    const working = inSlices(work(), left.signal);
    left.abort(new Error('left'));
    await expect(working).rejects.toThrow('left');
    expect(begun).toBe(false);
  });

  it('ends with the reason of its signal', async () => {
    const left = new AbortController();
    const endless = function* () {
      for (;;) yield;
    };
    const working = inSlices(endless(), left.signal);
    // it has begun
    await setImmediate();
    left.abort(new Error('left'));
    await expect(working).rejects.toThrow('left');
  });
});
