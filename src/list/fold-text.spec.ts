import { describe, expect, it } from '@jest/globals';
import { foldNumber, foldText } from './fold-text.js';

describe('foldText', () => {
  it('removes letter case and accents, however they are written', () => {
    for (const text of ['Crème brûlée', 'creme brulee', 'CRE\u0300ME BRU\u0302LE\u0301E']) {
      expect(foldText(text)).toBe('CREME BRULEE');
    }
    expect(foldText('Straße')).toBe('STRASSE');
    expect(foldText('ệ \u1ec7 e\u0302\u0323 e\u0323\u0302')).toBe('E E E E');
  });

  it('takes little time for a text of accents', () => {
    // normalization puts accents in an order, in quadratic time
    const accents = 'a' + '\u0301'.repeat(2000) + '\u0316'.repeat(1999);
    const began = performance.now();
    for (let time = 0; time < 200; time++) expect(foldText(accents)).toBe('A');
    expect(performance.now() - began).toBeLessThan(1000);
    expect(foldNumber(` ${accents}`)).toBe('A');
  });
});
