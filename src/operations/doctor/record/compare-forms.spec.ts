import { expect, it } from '@jest/globals';
import type { Exchange } from '../../../sandbox/replay/read-recording.js';
import { compareForms } from './compare-forms.js';

const page = (body: string): Exchange => ({
  kind: 'page',
  path: '/api/v1/accounts',
  query: {},
  status: 200,
  failure: null,
  headers: {},
  ms: 1,
  body,
});
const DEPTH = 1500;

it('the paths of a document that is too deep take no memory', () => {
  const nested = (key: string) => page(`{"${key}":`.repeat(DEPTH) + '1' + '}'.repeat(DEPTH));
  const letters = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => nested(letter.repeat(40)));
  const differences = compareForms([page('{}')], letters);
  expect(differences.length).toBe(letters.length);
  expect(Math.max(...differences.map(({ length }) => length))).toBeLessThan(1000);
});

it('a document with too many keys is compared in part', () => {
  const words = Array.from({ length: 20_000 }, (_, index) =>
    index.toString(2).replaceAll('0', 'a').replaceAll('1', 'b'),
  );
  const wide = page(`{${words.map((word) => `"k${word}":1`).join(',')}}`);
  expect(compareForms([page('{}')], [wide]).length).toBeLessThan(10_000);
});
