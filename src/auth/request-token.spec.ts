import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import type { Settings } from '../config/settings.js';
import { toAnswerError } from '../egress/answer-error.js';
import type { WireRequest } from '../egress/wire-client.js';
import { toAccessToken } from './access-token-provider.js';
import { requestToken } from './request-token.js';

const GOOD = { access_token: 'abc.DEF-123_~+/=', expires_in: '300', token_type: 'Bearer' };

/** Requests a token from an endpoint that returns this status and body after `tookMs`. */
async function ask(body: unknown, { status = 200, headers = {}, tookMs = 0 } = {}) {
  const clock = new FakeClock();
  const log = keepLines();
  const requests: WireRequest[] = [];
  const askedAt = clock.now();
  const egress = {
    get: (request: WireRequest) => {
      requests.push(request);
      clock.advance(tookMs);
      const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      const answer = { status, headers, body: bytes };
      return Promise.resolve({ ...answer, error: toAnswerError(answer, 'token') });
    },
  };
  const settings = { BANK_AUTH_URL: 'https://auth.bank.example/m2m' } as Settings;
  const parts = { settings, clock, logger: log.logger };
  const token = await requestToken(egress, { username: 'Jürgen', password: 'p:ä$s' }, parts);
  return { token, requests, log, askedAt };
}

const read = async (change: Record<string, unknown>) => (await ask({ ...GOOD, ...change })).token.value;
const rejected = (body: unknown, options?: Parameters<typeof ask>[1]) => rejectionOf(() => ask(body, options));

describe('a token request', () => {
  it('sends exactly the documented request, in UTF-8', async () => {
    const { requests } = await ask(GOOD);
    expect(requests).toEqual([
      {
        target: 'token',
        baseUrl: 'https://auth.bank.example/m2m',
        path: '/api/v1/authorizations/authorize',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Basic ${Buffer.from('Jürgen:p:ä$s').toString('base64')}`,
          'X-Request-Id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
      },
    ]);
  });

  it("starts the token's lifetime before it is sent", async () => {
    const { token, askedAt } = await ask(GOOD, { tookMs: 20_000 });
    expect([token.value, token.requestedAt, token.lifetimeMs]).toEqual([GOOD.access_token, askedAt, 300_000]);
  });

  it.each([
    [0, 0.75],
    [1, 0.85],
  ])('makes the token due for renewal at 80 %% of its lifetime, plus or minus 5 %% (random %d)', (random, part) => {
    const { wall } = toAccessToken('x', 300_000, { wall: 0, monotonic: 0 }, () => random).renewAt;
    expect(wall / 300_000).toBeCloseTo(part);
  });

  it.each([
    [300_000, 295_000],
    [50_000, 45_000],
    [10_000, 9000],
    [1000, 900],
  ])('lets a token of %i ms be sent for %i ms, until 5 s or a tenth before its end', (lifetimeMs, ms) => {
    const { unusableAt } = toAccessToken('x', lifetimeMs, { wall: 0, monotonic: 7 });
    expect(unusableAt).toEqual({ wall: ms, monotonic: ms + 7 });
  });
});

describe('a response', () => {
  it.each([
    ['with a byte order mark', `\ufeff${JSON.stringify(GOOD)}`],
    ['with new fields', `{"__proto__":{"access_token":"x"},"scope":["accounts"],${JSON.stringify(GOOD).slice(1)}`],
    ['of 65 536 bytes', JSON.stringify(GOOD).padEnd(65_536)],
  ])('%s is accepted', async (_name, body) => {
    expect((await ask(body)).token.value).toBe(GOOD.access_token);
  });

  it.each([
    ['of 65 537 bytes', JSON.stringify(GOOD).padEnd(65_537), 'it is larger than 65536 bytes'],
    ['with broken JSON', '{"access_token":"abc"', 'it is not JSON'],
    ['with bad UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'it is not JSON'],
    ['with an array', '[{"access_token":"abc"}]', 'it is not a JSON object'],
    ['nested 20 000 deep', '['.repeat(20_000) + ']'.repeat(20_000), 'it is not a JSON object'],
  ])('%s is rejected without showing its content', async (_name, body, problem) => {
    const detail = `The answer of the token endpoint cannot be used: ${problem}.`;
    expect(await rejected(body)).toMatchObject({ code: 'bank-response-invalid', detail });
  });

  it('with a status other than 200 becomes the error for that status, with the Retry-After of the bank', async () => {
    const body = { errors: [{ errorCode: 'AuthorizationParseFailure', errorDescription: 'hunter2' }] };
    const { code, retryAfterMs, detail } = await rejected(body, { status: 429, headers: { 'retry-after': '17' } });
    expect([code, retryAfterMs]).toEqual(['bank-rate-limited', 17_000]);
    expect(detail).not.toMatch(/Parse|hunter2/);
  });
});

describe('token_type', () => {
  it.each(['bearer', 'BEARER', null, undefined])('may be %p', async (token_type) => {
    expect(await read({ token_type })).toBe(GOOD.access_token);
  });

  it.each(['MAC', '', 7, 'Bearer '])('must not be %p', async (token_type) => {
    const { code, detail } = await rejected({ ...GOOD, token_type });
    expect([code, detail]).toEqual(['bank-response-invalid', expect.stringContaining('token_type is not')]);
  });
});

describe('the access token', () => {
  it.each([
    ['missing', undefined, 'is missing or not a string'],
    ['a number', 12345, 'is missing or not a string'],
    ['empty', '', 'is empty'],
    ['16 385 characters long', 'a'.repeat(16_385), 'is too long'],
    ['with CR and LF', 'abc\r\nX-Evil: 1', 'contains characters that are not allowed in a bearer token'],
    ['a line end', '\n', 'is empty'],
    ['with a space', 'abc def', 'contains characters that are not allowed in a bearer token'],
    ['with non-ASCII', 'abcé', 'contains characters that are not allowed in a bearer token'],
  ])('that is %s is rejected; the error names the field, not its value', async (_name, access_token, problem) => {
    const detail = `The answer of the token endpoint cannot be used: access_token ${problem}.`;
    expect(await rejected({ ...GOOD, access_token })).toMatchObject({ code: 'bank-response-invalid', detail });
  });

  it.each(['abc\n', ' abc', 'abc\r\n'])('%j is used without the white space around it', async (access_token) => {
    expect(await read({ access_token })).toBe('abc');
  });

  it('of 16 384 characters is accepted', async () => {
    expect(await read({ access_token: 'a'.repeat(16_384) })).toHaveLength(16_384);
  });
});

describe('the life of a token', () => {
  it.each([
    ...['300', 300, '300.0', '300.000', ' 300', '300 '].map((value) => [value, 300]),
    ['1', 1],
    [86_400, 86_400],
  ])('%p is %p s, and nothing is logged', async (expires_in, seconds) => {
    const { token, log } = await ask({ ...GOOD, expires_in });
    expect([token.lifetimeMs, log.written]).toEqual([Number(seconds) * 1000, []]);
  });

  const unusable = [undefined, null, true, [300], { seconds: 300 }, 0, -1, 300.5, 1e9, 1e21, 86_401];

  it.each([...unusable, ...'|abc|0|-1|+300|300.5|300.|1000000000|1e2|0x12c|86401|٣٠٠|300 s'.split('|')])(
    '%p counts as 60 s, with a warning',
    async (expires_in) => {
      const { token, log } = await ask({ ...GOOD, expires_in });
      expect(token.lifetimeMs).toBe(60_000);
      expect(log.lines('token.lifetime-unknown')).toEqual([expect.objectContaining({ level: 'warn' })]);
    },
  );
});
