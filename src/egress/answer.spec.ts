import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/support/refusal-of.js';
import { startOf, toText } from './answer.js';

describe('the start of a body', () => {
  const pieces = ['ab', '', 'cde', 'f'].map((piece) => Buffer.from(piece));

  it('goes over as many pieces as it takes', () => {
    const starts = [0, 2, 4, 9].map((bytes) => startOf({ pieces }, bytes));
    expect(starts).toEqual(['', 'ab', 'abcd', 'abcdef']);
  });
});

describe('the text of an answer', () => {
  it('is UTF-8 without its byte order mark', () => {
    expect(toText(Buffer.from('\ufeff"Zürich €😀"'), 'the list')).toBe('"Zürich €😀"');
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
