import { expect, it } from '@jest/globals';
import { recordedPage } from '../../test/support/recorded-page.js';
import { compareForms } from './compare-forms.js';

const DEPTH = 1500;

it('the paths of a document that is too deep take no memory', () => {
  const nested = (key: string) => recordedPage(`{"${key}":`.repeat(DEPTH) + '1' + '}'.repeat(DEPTH));
  const letters = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => nested(letter.repeat(40)));
  const differences = compareForms([recordedPage('{}')], letters);
  expect(differences.length).toBeGreaterThanOrEqual(letters.length);
  expect(Math.max(...differences.map(({ length }) => length))).toBeLessThan(1000);
});

it('a document with too many keys is compared in part', () => {
  const words = Array.from({ length: 20_000 }, (_, index) =>
    index.toString(2).replaceAll('0', 'a').replaceAll('1', 'b'),
  );
  const wide = recordedPage(`{${words.map((word) => `"k${word}":1`).join(',')}}`);
  expect(compareForms([recordedPage('{}')], [wide]).length).toBeLessThan(10_000);
});

it.each([
  ['12:00:00.1234567Z', '12:00:00.12Z', 0],
  ['12:00:00.1Z', '12:00:00Z', 1],
  ['12:00:00.1Z', '12:00:00.1+00:00', 1],
])('two times differ in form only by the presence of a fraction, and by their zone: %s and %s', (was, is, expected) => {
  const [before, now] = [was, is].map((time) => [recordedPage(`["2026-11-20T${time}"]`)]);
  expect(compareForms(before ?? [], now ?? [])).toHaveLength(expected);
});
