import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/support/refusal-of.js';
import { startOf, toText } from './answer.js';

describe('the start of a body', () => {
  const pieces = ['ab', '', 'cde', 'f'].map((piece) => Buffer.from(piece));

  it.each([
    [0, ''],
    [1, 'a'],
    [2, 'ab'],
    [4, 'abcd'],
    [6, 'abcdef'],
    [9, 'abcdef'],
  ])('of %i bytes goes over as many pieces as it takes', (bytes, text) => {
    expect(startOf({ pieces }, bytes)).toBe(text);
  });

  it('of nothing is empty', () => {
    expect(startOf({ pieces: [] }, 10)).toBe('');
  });
});

describe('the text of an answer', () => {
  it('is UTF-8', () => {
    expect(toText(Buffer.from('"Zürich €😀"'), 'the list')).toBe('"Zürich €😀"');
  });

  it('has no byte order mark', () => {
    expect(toText(Buffer.from('\ufeff{}'), 'the list')).toBe('{}');
  });

  it.each([
    ['Latin-1', Buffer.from('Zürich', 'latin1')],
    ['a cut character', Buffer.from('€').subarray(0, 2)],
    ['an overlong form', Buffer.from([0xc0, 0xaf])],
    ['a lone surrogate', Buffer.from([0xed, 0xa0, 0x80])],
  ])('is refused when it is %s', async (_name, body) => {
    const error = await refusalOf(() => toText(body, 'the list'));
    expect([error.code, error.detail]).toEqual([
      'bank-response-invalid',
      'The response from the list is not valid UTF-8.',
    ]);
  });

  it('is read again after one was refused', async () => {
    await refusalOf(() => toText(Buffer.from('€').subarray(0, 2), 'the list'));
    expect(toText(Buffer.from('{}'), 'the list')).toBe('{}');
  });
});
