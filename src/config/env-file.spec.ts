import { expect, it } from '@jest/globals';
import { parse } from 'dotenv';
import { warningsOf, withoutBlankLines } from './env-file.js';

it.each([
  ['PORT=1\nHOST=x\n PORT = 2\nexport PORT=3\n', ['PORT']],
  ['PORT=1\r\nPORT: 2\r\n', ['PORT']],
  ['PORT=1\n#PORT=2\nHOST=PORT=3\n', []],
])('%j sets %j twice, which is reported', (text, names) => {
  expect(warningsOf(text)).toEqual(names.map((name) => `${name} is set twice in .env; the last value counts`));
});

it.each([
  ['BANK_PASSWORD=hun#ter2', ['BANK_PASSWORD']],
  ['BANK_PASSWORD=#hunter2', ['BANK_PASSWORD']],
  ['export BANK_PFX_PASSCODE: hunter2#', ['BANK_PFX_PASSCODE']],
  ["BANK_PASSWORD='hun#ter2'", []],
  ["BANK_PASSWORD='hunter2'#comment", []],
  ['BANK_PASSWORD=hunter2 # a comment', []],
  ['BANK_PASSWORD= # a comment#2', []],
  ['# BANK_PASSWORD=hun#ter2', []],
  ['ENVIRONMENT=a#b', []],
])('%j cuts off %j, which is reported without its value', (text, names) => {
  const ending = 'in .env ends before its #; if # is part of it, put it in single quotes';
  expect(warningsOf(text)).toEqual(names.map((name) => `the value of ${name} ${ending}`));
});

it.each(['\n'.repeat(100_000), ' \r\n'.repeat(100_000), '\r'.repeat(100_000), '\u2028\n'.repeat(100_000)])(
  'a run of blank lines is at most one, because dotenv takes quadratic time for it',
  (lines) => {
    expect(withoutBlankLines(`A=1\n${lines}B=2`)).toBe('A=1\n\nB=2');
  },
);

it('a value of several lines keeps them', () => {
  expect(parse(withoutBlankLines('A="1\r\n2\n\n3"\r\n\r\n\r\nB=4'))).toEqual({ A: '1\n2\n\n3', B: '4' });
});
