import { expect, it } from '@jest/globals';
import { warningsOf } from './env-file.js';

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
