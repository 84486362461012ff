import { describe, expect, it } from '@jest/globals';
import { CodedTextsBuilder } from './coded-texts.js';

function gather(...texts: (string | null)[]): CodedTextsBuilder {
  const builder = new CodedTextsBuilder();
  for (const text of texts) builder.push(text);
  return builder;
}

describe('texts as codes', () => {
  it('have one for each text that differs, in the order in which they are met, and 0 for null', () => {
    const { codes, different } = gather('b', null, 'a', 'b', '').take(Uint32Array.of(2, 0, 1, 3, 4));
    expect([...codes]).toEqual([1, 2, 0, 2, 3]);
    expect(different).toEqual(['a', 'b', '']);
  });

  it('have the same one where they follow each other, and after a null', () => {
    const all = [null, 'a', 'a', null, null, 'a', 'b', 'b', 'a'];
    const { codes, different } = gather(...all).take(Uint32Array.from(all.keys()));
    expect([...codes].map((code) => (code === 0 ? null : different[code - 1]))).toEqual(all);
    expect(different).toEqual(['a', 'b']);
  });

  it('leave out the texts of what is not taken', () => {
    const { codes, different } = gather('old', 'new', 'new').take(Uint32Array.of(1, 2));
    expect([...codes]).toEqual([1, 1]);
    expect(different).toEqual(['new']);
  });

  it('are none of nothing', () => {
    expect(gather('a').take(new Uint32Array())).toEqual({ codes: new Uint32Array(), different: [] });
  });
});
