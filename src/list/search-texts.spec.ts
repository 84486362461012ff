import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { foldCase, foldNumber, foldText } from './search-texts.js';

describe('foldText', () => {
  it('removes letter case and accents, however they are written', () => {
    for (const text of ['Crème brûlée', 'creme brulee', 'CRE\u0300ME BRU\u0302LE\u0301E']) {
      expect(foldText(text)).toBe('CREME BRULEE');
    }
    for (const text of ['Straße', 'STRAẞE', 'strasse']) expect(foldText(text)).toBe('STRASSE');
    for (const text of ['ΟΔΌΣ', 'οδός', 'οδόσ']) expect(foldText(text)).toBe('ΟΔΟΣ');
    expect(foldText('ệ \u1ec7 e\u0302\u0323 e\u0323\u0302')).toBe('E E E E');
  });

  it.each([
    ['Smørrebrød', 'smorrebrod'],
    ['Zażółć', 'zazolc'],
    ['Ħal Għaxaq', 'hal ghaxaq'],
    ['Đorđe ŧ', 'dorde t'],
    ['Ærø Ǽ Ǿ', 'aero ae o'],
    ['Œuvre', 'oeuvre'],
    ['ıİ', 'ii'],
  ])('removes strokes and separates letters: %s is %s', (text, plain) => {
    expect(foldText(text)).toBe(plain.toUpperCase());
    expect(foldText(text.toUpperCase())).toBe(plain.toUpperCase());
    expect(foldText(plain)).toBe(plain.toUpperCase());
  });

  it('the negative case: does not merge other letters', () => {
    expect(foldText('ðþŋ')).toBe('ÐÞŊ');
  });

  it('leaves folded text unchanged', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => foldText(foldText(text)) === foldText(text)));
  });

  it('takes about the same time for accents in any order', () => {
    // normalization sorts them into its own order, in quadratic time
    const ordered = `a${'\u0301'.repeat(3999)}`;
    const mixed = `a${'\u0301'.repeat(2000)}${'\u0316'.repeat(1999)}`;
    for (const text of [ordered, mixed]) expect(foldText(text)).toBe('A');
    expect(foldNumber(` ${mixed}`)).toBe('A');
    expect(took(mixed)).toBeLessThan(30 * took(ordered));
  });
});

describe('foldCase', () => {
  it('removes only letter case', () => {
    expect(foldCase('ACTIVE')).toBe(foldCase('Active'));
    for (const other of ['Actıve', 'Áctive', 'A ctive']) expect(foldCase(other)).not.toBe(foldCase('Active'));
  });
});

/** The shortest of several times, ms: a busy machine makes single runs slower. */
function took(text: string): number {
  const times = Array.from({ length: 30 }, () => {
    const began = performance.now();
    foldText(text);
    return performance.now() - began;
  });
  return Math.min(...times);
}
