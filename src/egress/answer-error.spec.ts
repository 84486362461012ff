import { describe, expect, it } from '@jest/globals';
import { toAnswerError, toRetryAfterMs } from './answer-error.js';

const NOW = Date.UTC(2026, 10, 21, 8, 0, 0);

const answer = (status: number, body: Buffer | string = '', retryAfter: string | null = null) => ({
  status,
  retryAfter,
  body: Buffer.from(body as string),
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
    '%j has no effect',
    (header) => {
      expect(toRetryAfterMs(header, NOW)).toBeUndefined();
    },
  );
});

describe('a response', () => {
  const both = ['token', 'accounts'] as const;

  it.each(both)('of 200 from the %s is no error', (target) => {
    expect(toAnswerError(answer(200), target)).toBeNull();
  });

  it.each([
    [both, 429, 'bank-rate-limited', 'bank', 503],
    [both, 500, 'bank-error', 'bank', 503],
    [both, 503, 'bank-error', 'bank', 503],
    [both, 599, 'bank-error', 'bank', 503],
    [both, 301, 'bank-refused', 'operator', 502],
    [both, 308, 'bank-refused', 'operator', 502],
    [both, 412, 'bank-refused', 'operator', 502],
    [both, 418, 'bank-refused', 'operator', 502],
    [both, 201, 'bank-response-invalid', 'bank', 502],
    [both, 204, 'bank-response-invalid', 'bank', 502],
    [both, 206, 'bank-response-invalid', 'bank', 502],
    [both, 304, 'bank-response-invalid', 'bank', 502],
    [['token'], 400, 'credentials-rejected', 'operator', 502],
    [['token'], 401, 'credentials-rejected', 'operator', 502],
    [['token'], 403, 'address-not-allowed', 'operator', 502],
    [['token'], 404, 'bank-refused', 'operator', 502],
    [['accounts'], 400, 'bank-refused', 'operator', 502],
    [['accounts'], 401, 'bank-refused', 'operator', 502],
    [['accounts'], 403, 'bank-refused', 'operator', 502],
    [['accounts'], 404, 'access-not-granted', 'bank', 502],
  ] as const)('of %p with %i is %s of the %s, and %i to the caller', (targets, status, code, owner, ours) => {
    for (const target of targets) {
      const error = toAnswerError(answer(status, 'hunter2'), target);
      expect([error?.code, error?.owner, error?.status]).toEqual([code, owner, ours]);
      const name = target === 'token' ? 'The token endpoint' : 'The account list';
      expect(error?.detail).toMatch(new RegExp(`^${name} answered .*${status}`));
      expect(error?.detail).not.toContain('hunter2');
    }
  });

  it.each([
    ['token', 400, 'allowlist'],
    ['token', 401, 'allowlist'],
    ['token', 403, 'allowlist'],
    ['accounts', 403, 'allowlist'],
    ['accounts', 404, 'BANK_BASE_URL'],
  ] as const)('of the %s with %i also names: %s', (target, status, named) => {
    expect(toAnswerError(answer(status), target)?.detail).toContain(named);
  });

  it.each([204, 302, 400, 401, 403, 404, 418, 429, 503])('with %i keeps the Retry-After of the bank', (status) => {
    for (const target of both) {
      expect(toAnswerError(answer(status, '', '9'), target)?.retryAfterMs).toBe(9000);
      expect(toAnswerError(answer(status, ''), target)?.retryAfterMs).toBeUndefined();
    }
  });

  it.each(both)('of 400 from the %s is a rejected certificate if its page says so, and only then', (target) => {
    const codeOf = (status: number, body: string) => toAnswerError(answer(status, body), target)?.code;
    const page = '<html>\r\n<head><title>400 The SSL certificate error</title></head>';
    expect([codeOf(400, page), codeOf(400, `\n${page}`)]).toEqual(Array(2).fill('certificate-rejected'));
    const others = [codeOf(403, page), codeOf(400, '<html>Blocked'), codeOf(400, '{"a":"The SSL certificate error"}')];
    expect(others).not.toContain('certificate-rejected');
  });
});
