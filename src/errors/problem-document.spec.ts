import { describe, expect, it } from '@jest/globals';
import { GatewayError, toGatewayError } from './gateway-error.js';
import { problemSchema, toProblemDocument, toProblemHeaders } from './problem-document.js';
import { PROBLEM_CODES, PROBLEMS, remedyOf } from './problem-table.js';

describe('a problem document', () => {
  it.each(PROBLEM_CODES)('for %s matches its schema', (code) => {
    const document = toProblemDocument(new GatewayError(code, 'x'), '/', 'r');
    expect(problemSchema.strict().parse(document)).toEqual(document);
  });

  it('has the properties of the error and its table entry, and nothing from the cause', () => {
    const options = {
      cause: new Error('hunter2'),
      owner: 'bank',
      status: 414,
      errors: [{ name: 'pageSize', reason: 'x' }],
    } as const;
    expect(toProblemDocument(new GatewayError('bank-timeout', 'Slow.', options), '/api/v1/accounts', 'r-1')).toEqual({
      type: '/problems/bank-timeout',
      title: PROBLEMS['bank-timeout'].title,
      status: 414,
      detail: 'Slow.',
      remedy: remedyOf('bank-timeout'),
      instance: '/api/v1/accounts',
      code: 'bank-timeout',
      owner: 'bank',
      requestId: 'r-1',
      errors: options.errors,
    });
  });
});

describe('the headers of a problem', () => {
  it("are the media type, no-store, and the error's own", () => {
    const headers = { allow: 'GET' };
    expect(toProblemHeaders(new GatewayError('method-not-allowed', 'x', { headers }))).toEqual({
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      allow: 'GET',
    });
  });

  it.each(PROBLEM_CODES)('for %s contain Retry-After on a 503, and during a back-off', (code) => {
    const retryAfter = (retryAfterMs?: number) =>
      toProblemHeaders(new GatewayError(code, 'x', { retryAfterMs }))['retry-after'];
    expect([retryAfter(), retryAfter(7000)]).toEqual([PROBLEMS[code].status === 503 ? '30' : undefined, '7']);
  });

  it.each([
    [undefined, '30'],
    [0, '1'],
    [1000, '1'],
    [1001, '2'],
    [300_000, '300'],
    [Infinity, '300'],
  ])('after a back-off of %p ms contain Retry-After %s', (retryAfterMs, seconds) => {
    const error = new GatewayError('bank-unreachable', 'x', { retryAfterMs });
    expect(toProblemHeaders(error)['retry-after']).toBe(seconds);
  });
});

describe('a GatewayError', () => {
  it('with withRetryAfter() differs only in the time', () => {
    const options = { cause: new Error('c'), status: 599, owner: 'bank', headers: { a: 'b' }, errors: [] } as const;
    const waiting = new GatewayError('bank-unreachable', 'd', options).withRetryAfter(5);
    expect(waiting).toMatchObject({ ...options, code: 'bank-unreachable', detail: 'd', retryAfterMs: 5 });
    expect(toGatewayError(waiting)).toBe(waiting);
  });

  it.each([new TypeError('hunter2'), 'hunter2', undefined, null])('hides any other thrown value (%#)', (thrown) => {
    const error = toGatewayError(thrown);
    expect([error.code, error.status, error.owner, error.cause]).toEqual(['internal-error', 500, 'operator', thrown]);
    expect(JSON.stringify(toProblemDocument(error, '/', 'r'))).not.toContain('hunter2');
  });
});
