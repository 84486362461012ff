import { describe, expect, it } from '@jest/globals';
import { GatewayError, toGatewayError } from './gateway-error.js';
import { problemSchema, toProblemDocument, toProblemHeaders } from './problem-document.js';
import { PROBLEM_CODES, PROBLEMS } from './problem-table.js';

describe('a problem document', () => {
  it('is as RFC 9457 and docs/errors.md have it', () => {
    const error = new GatewayError('bank-timeout', 'The bank was slow.', { cause: new Error('hunter2') });
    expect(toProblemDocument(error, '/api/v1/accounts', 'r-1')).toEqual({
      type: '/problems/bank-timeout',
      title: 'The bank did not answer in time',
      status: 504,
      detail: 'The bank was slow.',
      instance: '/api/v1/accounts',
      code: 'bank-timeout',
      owner: 'bank',
      requestId: 'r-1',
    });
  });

  it('names the wrong parameters', () => {
    const errors = [{ name: 'pageSize', reason: 'must be at most 1000' }];
    expect(toProblemDocument(new GatewayError('invalid-request', 'x', { errors }), '/', 'r').errors).toEqual(errors);
  });

  it('has the owner and status of the error where they differ from those of the table', () => {
    const error = new GatewayError('bank-unreachable', 'x', { owner: 'bank' });
    expect(toProblemDocument(error, '/', 'r').owner).toBe('bank');
    const tooLong = new GatewayError('request-too-large', 'x', { status: 414 });
    expect(toProblemDocument(tooLong, '/', 'r').status).toBe(414);
  });

  it.each(PROBLEM_CODES)('for %s is what its schema says', (code) => {
    const document = toProblemDocument(new GatewayError(code, 'x'), '/', 'r');
    expect(problemSchema.strict().parse(document)).toEqual(document);
  });
});

describe('the headers of a problem', () => {
  it('say what it is, and that it is not to be kept', () => {
    expect(toProblemHeaders(new GatewayError('not-found', 'x'))).toEqual({
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
    });
  });

  it('hold those of its own', () => {
    const error = new GatewayError('method-not-allowed', 'x', { headers: { allow: 'GET' } });
    expect(toProblemHeaders(error)['allow']).toBe('GET');
  });

  it.each(PROBLEM_CODES)('for %s have Retry-After if and only if it is a 503', (code) => {
    const retryAfter = toProblemHeaders(new GatewayError(code, 'x', { retryAfterMs: 7000 }))['retry-after'];
    expect(retryAfter).toBe(PROBLEMS[code].status === 503 ? '7' : undefined);
  });

  it.each([
    [undefined, '30'],
    [0, '1'],
    [1, '1'],
    [1000, '1'],
    [1001, '2'],
    [299_001, '300'],
    [300_000, '300'],
    [1e12, '300'],
    [Infinity, '300'],
  ])('with %p ms to wait have Retry-After %s', (retryAfterMs, seconds) => {
    const error = new GatewayError('bank-unreachable', 'x', { retryAfterMs });
    expect(toProblemHeaders(error)['retry-after']).toBe(seconds);
  });
});

describe('a GatewayError', () => {
  it('that waits is the same but for the time', () => {
    const options = { cause: new Error('c'), owner: 'bank', status: 599, headers: { a: 'b' }, errors: [] } as const;
    const waiting = new GatewayError('bank-unreachable', 'd', options).waiting(5);
    expect(waiting).toMatchObject({ ...options, code: 'bank-unreachable', detail: 'd', retryAfterMs: 5 });
  });

  it('stays itself', () => {
    const error = new GatewayError('stopping', 'x');
    expect(toGatewayError(error)).toBe(error);
  });

  it.each([new TypeError('hunter2'), 'hunter2', undefined, null, 42])(
    'is made of anything else (%#), which stays inside',
    (thrown) => {
      const error = toGatewayError(thrown);
      expect([error.code, error.status, error.owner]).toEqual(['internal-error', 500, 'operator']);
      expect(error.cause).toBe(thrown);
      expect(JSON.stringify(toProblemDocument(error, '/', 'r'))).not.toContain('hunter2');
    },
  );
});
