import { describe, expect, it } from '@jest/globals';
import { KeptBytes } from './kept-bytes.js';

describe('memory that is kept', () => {
  it('joins pieces, the second time in the same place', () => {
    const kept = new KeptBytes();
    const first = kept.join([Buffer.from('one, '), Buffer.from(''), Buffer.from('two')]);
    expect(first.toString()).toBe('one, two');
    const second = kept.join([Buffer.from('3')]);
    expect([second.toString(), second.buffer === first.buffer]).toEqual(['3', true]);
    expect(kept.join([])).toHaveLength(0);
  });

  it('is not that of pages larger than most', () => {
    const kept = new KeptBytes();
    const large = kept.take(5_000_000);
    expect([large.length, kept.take(5_000_000).buffer === large.buffer]).toEqual([5_000_000, false]);
    expect(kept.take(10).buffer.byteLength).toBeLessThan(large.length);
  });
});
