import { expect, it } from '@jest/globals';
import { findParts } from './find-parts.js';

const part = (heading: string, text: string) => ({
  page: 'Deploy',
  heading,
  href: `/docs/guide/deploy#${heading}`,
  text,
});
const PARTS = [
  part('Start', 'Reload the certificate.'),
  part('Certificate', 'How to renew it.'),
  ...Array.from({ length: 20 }, (_, index) => part(`Step ${index}`, 'Nothing else.')),
];
const find = (typed: string) => findParts(PARTS, typed).map(({ heading }) => heading);

it('the search of the guide finds the parts with every word, those with a matching heading first', () => {
  expect(find('CERTIFICATE')).toEqual(['Certificate', 'Start']);
  expect(find(' reload  certificate ')).toEqual(['Start']);
});

it('the search of the guide finds nothing without a word or a match, and at most 12 parts', () => {
  expect([find(' '), find('zzz')]).toEqual([[], []]);
  expect(find('nothing')).toHaveLength(12);
});
