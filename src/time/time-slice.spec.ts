import { describe, expect, it } from '@jest/globals';
import { nextTimeSlice } from './time-slice.js';

describe('time slices', () => {
  it('are one for each turn of the event loop, in the order they were asked for', async () => {
    const slices: [turn: number, who: string][] = [];
    let turn = 0;
    let ended = false;
    const count = () => {
      turn += 1;
      if (!ended) setImmediate(count);
    };
    setImmediate(count);
    const work = async (who: string) => {
      for (let slice = 0; slice < 3; slice++) {
        await nextTimeSlice();
        slices.push([turn, who]);
      }
    };
    await Promise.all(['a', 'b', 'c'].map(work));
    ended = true;
    expect(slices.map(([, who]) => who).join('')).toBe('abcabcabc');
    expect(new Set(slices.map(([at]) => at)).size).toBe(slices.length);
  });
});
