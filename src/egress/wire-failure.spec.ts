import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../problems/gateway-error.js';
import { CallFailed } from './wire-client.js';
import { toWireError, type FailureContext } from './wire-failure.js';

const SETTINGS = { BANK_REQUEST_TIMEOUT_MS: 10_000, BANK_MAX_RESPONSE_BYTES: 1000 };
/** A call on a fresh connection to a bank that has answered before. */
const CONTEXT = { target: 'the account list', timedOut: false, everAnswered: true, settings: SETTINGS };

const failure = (
  thrown: unknown,
  { status = null, reusedSocket = false, ...change }: Partial<FailureContext & CallFailed> = {},
) => toWireError(new CallFailed(thrown, status, reusedSocket), { ...CONTEXT, ...change });
const withCode = (code: string, rest: object = {}) => Object.assign(new Error(`hunter2 ${code}`), { code, ...rest });
/** As axios wraps what happened: with its own code, and all of the call hanging on it. */
const wrapped = (cause: Error, code = 'ERR_NETWORK') =>
  Object.assign(new Error('hunter2', { cause }), { code, config: { headers: { Authorization: 'hunter2' } } });
const alert = (number: number) =>
  withCode('ERR_SSL_SOME_NAME', { message: `00A:error:0A:SSL routines:ssl3_read_bytes:x:SSL alert number ${number}` });

describe('a TLS alert', () => {
  it.each([40, 42, 43, 44, 45, 46, 47, 48, 116])('%i is a refusal, after other answers too', (number) => {
    expect(failure(alert(number), { reusedSocket: true, everAnswered: true }).code).toBe('certificate-rejected');
  });

  it.each([10, 20, 50, 70, 71, 80, 112])('%i is none', (number) => {
    expect(failure(alert(number), { everAnswered: false }).code).toBe('bank-unreachable');
  });

  it('counts more than a deadline that has passed meanwhile', () => {
    expect(failure(alert(46), { timedOut: true }).code).toBe('certificate-rejected');
  });
});

describe('a connection that is closed before the first byte of an answer', () => {
  it.each(['ECONNRESET', 'EPIPE'])('by %s, where none was ever had, is taken for a refused certificate', (code) => {
    const error = failure(wrapped(withCode(code)), { everAnswered: false });
    expect(error.code).toBe('certificate-rejected');
    expect(error.detail).toMatch(/chain.*allowlist/);
  });

  it.each([
    ['an answer was had before', { everAnswered: true }],
    ['the connection was used before', { everAnswered: false, reusedSocket: true }],
  ])('where %s, is an unavailable bank', (_name, change) => {
    const error = failure(withCode('ECONNRESET'), change);
    expect([error.code, error.owner]).toEqual(['bank-unreachable', 'network']);
  });

  it('is a timeout when it was we who closed it at the deadline', () => {
    expect(failure(withCode('ECONNRESET'), { everAnswered: false, timedOut: true }).code).toBe('bank-timeout');
  });
});

describe('a connection that does not come about', () => {
  it.each([
    ['ECONNREFUSED', 'refused the connection'],
    ['ENOTFOUND', 'could not be resolved'],
    ['EAI_AGAIN', 'could not be resolved'],
    ['EHOSTUNREACH', 'no route'],
    ['ENETUNREACH', 'no route'],
    ['EADDRNOTAVAIL', 'no route'],
    ['ETIMEDOUT', 'did not accept'],
    ['EMFILE', 'failed'],
  ])('for %s is an unavailable bank, and says why', (code, reason) => {
    const error = failure(wrapped(withCode(code)), { everAnswered: false });
    expect([error.code, error.owner, error.status]).toEqual(['bank-unreachable', 'network', 503]);
    expect(error.detail).toContain(reason);
    expect(error.detail).toContain(code);
  });

  it('of each of two addresses is reported with its own code', () => {
    const both = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')], 'hunter2');
    expect(failure(wrapped(both)).code).toBe('bank-unreachable');
    expect(failure(wrapped(both)).detail).toContain('ECONNREFUSED');
  });

  it('for noise instead of TLS is an unavailable bank', () => {
    expect(failure(withCode('EPROTO')).code).toBe('bank-unreachable');
    expect(failure(withCode('ERR_SSL_WRONG_VERSION_NUMBER')).detail).toContain('TLS handshake');
  });

  it('is what the agent made of it, however deep', () => {
    const unconnected = new GatewayError('proxy-refused', 'said no');
    expect(failure(wrapped(wrapped(unconnected)), { timedOut: true })).toBe(unconnected);
  });
});

describe('an answer that does not come whole', () => {
  it('in time is a timeout of the bank', () => {
    const error = failure(withCode('ERR_CANCELED'), { timedOut: true, status: 200 });
    expect([error.code, error.owner, error.status]).toEqual(['bank-timeout', 'bank', 504]);
    expect(error.detail).toContain('10000 ms');
  });

  it('because the connection was reset is an unavailable bank, which is asked again', () => {
    expect(failure(withCode('ECONNRESET', { syscall: 'read' }), { status: 200 }).code).toBe('bank-unreachable');
  });
});

describe('what is reported of a failure', () => {
  const thrown: [string, unknown][] = [
    ['an AxiosError', wrapped(withCode('ECONNREFUSED'))],
    ['an alert', wrapped(alert(46))],
    ['a timeout', wrapped(withCode('ERR_CANCELED'))],
    ['an unknown error', new Error('hunter2')],
    ['a text', 'hunter2'],
    ['nothing', undefined],
  ];

  it.each(thrown)('%s: neither message nor cause carries what hung on it', (_name, error) => {
    const reported = failure(error);
    const cause = reported.cause as Error;
    expect(reported.detail + String(reported.stack) + cause.message + String(cause.stack)).not.toContain('hunter2');
    expect(Object.keys(cause)).toEqual([]);
    expect(cause.cause).toBeUndefined();
  });

  it.each(thrown)('%s: it names whom we talked to, or the proxy', (_name, error) => {
    expect(failure(error).detail).toMatch(/the account list/i);
  });

  it('a circle of causes does no harm', () => {
    const first = withCode('ECONNREFUSED');
    first.cause = wrapped(first);
    expect(failure(first).code).toBe('bank-unreachable');
  });
});
