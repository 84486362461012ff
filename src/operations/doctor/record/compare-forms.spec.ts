import { expect, it } from '@jest/globals';
import { recordedPage } from '../../../../test/support/recorded-page.js';
import { compareForms } from './compare-forms.js';

const DEPTH = 1500;

it('the paths of a document that is too deep take no memory', () => {
  const nested = (key: string) => recordedPage(`{"${key}":`.repeat(DEPTH) + '1' + '}'.repeat(DEPTH));
  const letters = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => nested(letter.repeat(40)));
  const differences = compareForms([recordedPage('{}')], letters);
  expect(differences.length).toBe(letters.length);
  expect(Math.max(...differences.map(({ length }) => length))).toBeLessThan(1000);
});

it('a document with too many keys is compared in part', () => {
  const words = Array.from({ length: 20_000 }, (_, index) =>
    index.toString(2).replaceAll('0', 'a').replaceAll('1', 'b'),
  );
  const wide = recordedPage(`{${words.map((word) => `"k${word}":1`).join(',')}}`);
  expect(compareForms([recordedPage('{}')], [wide]).length).toBeLessThan(10_000);
});
