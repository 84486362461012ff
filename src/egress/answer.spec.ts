import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/support/refusal-of.js';
import { startOf, toRetryAfterMs, toStatusError, toText } from './answer.js';

const NOW = Date.UTC(2026, 10, 21, 8, 0, 0);

const answer = (status: number, body: Buffer | string = '', retryAfter: string | null = null) => ({
  status,
  contentType: 'application/json',
  retryAfter,
  pieces: [Buffer.from(body as string)],
});

describe('a Retry-After', () => {
  it.each([
    ['0', 0],
    ['7', 7000],
    [' 120 ', 120_000],
    ['1000000000', 1e12],
    ['Sat, 21 Nov 2026 08:02:00 GMT', 120_000],
    ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
  ])('%j is %i ms', (header, ms) => {
    expect(toRetryAfterMs(header, NOW)).toBe(ms);
  });

  it.each([null, '', 'soon', '-5', '1.5', '1e3', '5 s', '5, 6', '2026-11-21', 'Foo, 99 Bar 2026', '٣'])(
    '%j says nothing',
    (header) => {
      expect(toRetryAfterMs(header, NOW)).toBeUndefined();
    },
  );
});

describe('a status that is not 200', () => {
  it.each([
    [429, 'bank-rate-limited', 'bank', 503],
    [500, 'bank-error', 'bank', 503],
    [503, 'bank-error', 'bank', 503],
    [599, 'bank-error', 'bank', 503],
    [301, 'bank-refused', 'operator', 502],
    [308, 'bank-refused', 'operator', 502],
    [400, 'bank-refused', 'operator', 502],
    [403, 'bank-refused', 'operator', 502],
    [418, 'bank-refused', 'operator', 502],
    [201, 'bank-response-invalid', 'bank', 502],
    [204, 'bank-response-invalid', 'bank', 502],
    [206, 'bank-response-invalid', 'bank', 502],
    [304, 'bank-response-invalid', 'bank', 502],
  ])('%i is %s of the %s, and %i to the caller', (status, code, owner, ours) => {
    const error = toStatusError(answer(status, 'hunter2'), 'The account list', NOW);
    expect([error.code, error.owner, error.status]).toEqual([code, owner, ours]);
    expect(error.detail).toContain(`The account list answered`);
    expect(error.detail).toContain(String(status));
    expect(error.detail).not.toContain('hunter2');
  });

  it.each([429, 503])('%i keeps the Retry-After of the bank', (status) => {
    expect(toStatusError(answer(status, '', '9'), 'The list', NOW).retryAfterMs).toBe(9000);
  });

  it.each([403, 204])('%i has none', (status) => {
    expect(toStatusError(answer(status, '', '9'), 'The list', NOW).retryAfterMs).toBeUndefined();
  });
});

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
    expect([error.code, error.detail]).toEqual(['bank-response-invalid', 'The answer of the list is not valid UTF-8.']);
  });

  it('is read again after one was refused', async () => {
    await refusalOf(() => toText(Buffer.from('€').subarray(0, 2), 'the list'));
    expect(toText(Buffer.from('{}'), 'the list')).toBe('{}');
  });
});
