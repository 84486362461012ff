import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/support/refusal-of.js';
import { readTokenAnswer, toLifetimeSeconds } from './read-token-answer.js';

const NOW = Date.UTC(2026, 10, 21, 8);

const answer = (status: number, body: unknown, retryAfter: string | null = null) => ({
  status,
  contentType: 'application/json',
  retryAfter,
  pieces: [Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))],
});

const GOOD = { access_token: 'abc.DEF-123_~+/=', expires_in: '300', token_type: 'Bearer' };

const read = (change: Record<string, unknown>) => readTokenAnswer(answer(200, { ...GOOD, ...change }), NOW);
const refused = (status: number, body: unknown, retryAfter?: string) =>
  refusalOf(() => readTokenAnswer(answer(status, body, retryAfter), NOW));

describe('a token answer', () => {
  it('is read as the bank documents it', () => {
    expect(read({})).toEqual({ value: 'abc.DEF-123_~+/=', lifetimeSeconds: 300 });
  });

  it('is read with a byte order mark before it', () => {
    expect(readTokenAnswer(answer(200, `\ufeff${JSON.stringify(GOOD)}`), NOW).value).toBe(GOOD.access_token);
  });

  it('is read with what is new in it left aside', () => {
    const body = '{"__proto__":{"access_token":"x"},"access_token":"abc","scope":["accounts"]}';
    expect(readTokenAnswer(answer(200, body), NOW).value).toBe('abc');
  });

  it.each(['bearer', 'BEARER', null, undefined])('is read with token_type %p', (token_type) => {
    expect(read({ token_type }).value).toBe(GOOD.access_token);
  });

  it.each(['MAC', '', 7, 'Bearer '])('is refused with token_type %p', async (token_type) => {
    const error = await refusalOf(() => read({ token_type }));
    expect([error.code, error.detail]).toEqual(['bank-response-invalid', expect.stringContaining('token_type is not')]);
  });
});

describe('a large token answer', () => {
  it('is refused before it is parsed', async () => {
    const body = (bytes: number) => JSON.stringify(GOOD).padEnd(bytes);
    expect(readTokenAnswer(answer(200, body(65_536)), NOW).value).toBe(GOOD.access_token);
    expect(await refused(200, body(65_537))).toMatchObject({
      code: 'bank-response-invalid',
      detail: 'The answer of the token endpoint is larger than 65536 bytes.',
    });
  });
});

describe('the access token', () => {
  it.each([
    ['missing', undefined, 'is missing or not a string'],
    ['null', null, 'is missing or not a string'],
    ['a number', 12345, 'is missing or not a string'],
    ['an object', {}, 'is missing or not a string'],
    ['empty', '', 'is empty'],
    ['16 385 characters long', 'a'.repeat(16_385), 'is too long'],
    ['with CR and LF', 'abc\r\nX-Evil: 1', 'contains characters that are not allowed in a bearer token'],
    ['with a line end after it', 'abc\n', 'contains characters that are not allowed in a bearer token'],
    ['with a space', 'abc def', 'contains characters that are not allowed in a bearer token'],
    ['with non-ASCII', 'abcé', 'contains characters that are not allowed in a bearer token'],
    ['with a NUL', 'abc\0', 'contains characters that are not allowed in a bearer token'],
  ])('that is %s is refused by place and not by value', async (_name, access_token, problem) => {
    const error = await refusalOf(() => read({ access_token }));
    expect(error.code).toBe('bank-response-invalid');
    expect(error.detail).toBe(`In the response from the token endpoint, access_token ${problem}.`);
  });

  it('of 16384 characters is taken', () => {
    expect(read({ access_token: 'a'.repeat(16_384) }).value).toHaveLength(16_384);
  });
});

describe('the life of a token', () => {
  it.each([
    ...['300', 300, '300.0', '300.000', ' 300', '300 '].map((value) => [value, 300]),
    ['1', 1],
    [86_400, 86_400],
  ])('%p is %p s', (value, seconds) => {
    expect(toLifetimeSeconds(value)).toBe(seconds);
  });

  const unusable = [undefined, null, true, [300], { seconds: 300 }, 0, -1, 300.5, 1e9, 1e21, 86_401, Infinity, NaN];

  it.each([...unusable, ...'|abc|0|-1|+300|300.5|300.|1000000000|1e2|0x12c|86401|٣٠٠|300 s'.split('|')])(
    '%p says nothing',
    (value) => {
      expect(toLifetimeSeconds(value)).toBeNull();
    },
  );
});

describe('a 200 that is no token answer', () => {
  it.each([
    ['an empty body', '', 'is not JSON'],
    ['HTML', '<html>maintenance</html>', 'is not JSON'],
    ['broken JSON', '{"access_token":"abc"', 'is not JSON'],
    ['an array', '[{"access_token":"abc"}]', 'is not a JSON object'],
    ['null', 'null', 'is not a JSON object'],
    ['a text', '"abc"', 'is not a JSON object'],
    ['bad UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not valid UTF-8'],
  ])('%s', async (_name, body, problem) => {
    const error = await refused(200, body);
    expect(error.code).toBe('bank-response-invalid');
    expect(error.detail).toContain(problem);
    expect(error.detail).not.toMatch(/abc|maintenance/);
  });

  it('very deep nesting is refused and does no harm', async () => {
    expect((await refused(200, '['.repeat(200_000) + ']'.repeat(200_000))).code).toBe('bank-response-invalid');
  });
});

describe('another status', () => {
  it('is the error that it stands for, with the wait that the bank asks for and nothing of its body', async () => {
    const body = { errors: [{ errorCode: 'AuthorizationParseFailure', errorDescription: 'hunter2' }] };
    expect((await refused(429, body, '17')).retryAfterMs).toBe(17_000);
    for (const status of [204, 302, 400, 401, 403, 404, 429, 500]) {
      const { detail } = await refused(status, body);
      expect(detail).toContain(String(status));
      expect(detail).not.toMatch(/Parse|hunter2/);
    }
  });
});
