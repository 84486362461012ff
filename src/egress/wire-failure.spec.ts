import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway-error.js';
import { CallFailed } from './failures.js';
import { toWireError, type FailureContext } from './wire-failure.js';

const SETTINGS = { BANK_REQUEST_TIMEOUT_MS: 10_000, BANK_MAX_RESPONSE_BYTES: 1000 };
/** A call on a fresh connection to a bank that has answered before. */
const CONTEXT = { target: 'the account list', timedOut: false, everAnswered: true, settings: SETTINGS };
const NEVER_ANSWERED = { everAnswered: false };

type Change = Partial<FailureContext & CallFailed>;
const failure = (thrown: unknown, { status = null, reusedSocket = false, ...change }: Change = {}) =>
  toWireError(new CallFailed(thrown, status, reusedSocket), { ...CONTEXT, ...change });
const withCode = (code: string, rest: object = {}) => Object.assign(new Error(`hunter2 ${code}`), { code, ...rest });
/** As axios wraps what happened: with its own code, and all of the call hanging on it. */
const wrapped = (cause: Error, code = 'ERR_NETWORK') =>
  Object.assign(new Error('hunter2', { cause }), { code, config: { headers: { Authorization: 'hunter2' } } });
const alert = (number: number) =>
  withCode('ERR_SSL_SOME_NAME', { message: `00A:error:0A:SSL routines:ssl3_read_bytes:x:SSL alert number ${number}` });

describe('a TLS alert', () => {
  it.each([40, 42, 43, 44, 45, 46, 47, 48, 116])(
    '%i is a refusal, after other answers and the deadline too',
    (number) => {
      expect(failure(alert(number), { reusedSocket: true, timedOut: true }).code).toBe('certificate-rejected');
    },
  );

  it.each([10, 20, 50, 70, 71, 80, 112])('%i is none', (number) => {
    expect(failure(alert(number), NEVER_ANSWERED).code).toBe('bank-unreachable');
  });
});

it('a host name keeps its letters at the start of a sentence', () => {
  const { detail } = failure(withCode('EPIPE'), { ...NEVER_ANSWERED, target: 'api.bank.example:443' });
  expect(detail).toMatch(/^api\.bank\.example:443 closed/);
});

describe('a failed call', () => {
  it.each<[string, unknown, Change, string, RegExp]>([
    [
      'reset before any answer',
      wrapped(withCode('ECONNRESET')),
      NEVER_ANSWERED,
      'certificate-rejected',
      /chain.*allowlist/,
    ],
    [
      'closed before any answer',
      wrapped(withCode('EPIPE')),
      NEVER_ANSWERED,
      'certificate-rejected',
      /chain.*allowlist/,
    ],
    ['reset after earlier answers', withCode('ECONNRESET'), {}, 'bank-unreachable', /closed/],
    [
      'without a local address for the connection',
      withCode('EADDRNOTAVAIL', { syscall: 'connect' }),
      {},
      'bank-unreachable',
      /^There is no route/,
    ],
    [
      'reset on a kept connection',
      withCode('EPIPE'),
      { everAnswered: false, reusedSocket: true },
      'bank-unreachable',
      /closed/,
    ],
    [
      'reset at our deadline',
      withCode('ECONNRESET'),
      { everAnswered: false, timedOut: true },
      'bank-timeout',
      /10000 ms/,
    ],
    ['late within the answer', withCode('ERR_CANCELED'), { timedOut: true, status: 200 }, 'bank-timeout', /10000 ms/],
    [
      'reset within the answer',
      withCode('ECONNRESET', { syscall: 'read' }),
      { status: 200 },
      'bank-unreachable',
      /closed/,
    ],
    ['ECONNREFUSED', wrapped(withCode('ECONNREFUSED')), {}, 'bank-unreachable', /refused.*ECONNREFUSED/],
    ['ENOTFOUND', wrapped(withCode('ENOTFOUND')), {}, 'bank-unreachable', /resolved.*ENOTFOUND/],
    ['EHOSTUNREACH', wrapped(withCode('EHOSTUNREACH')), {}, 'bank-unreachable', /no route.*EHOSTUNREACH/],
    ['an unknown code', wrapped(withCode('EMFILE')), {}, 'bank-unreachable', /failed.*EMFILE/],
    ['noise instead of TLS', withCode('EPROTO'), {}, 'bank-unreachable', /TLS handshake.*EPROTO/],
    ['an old TLS', withCode('ERR_SSL_WRONG_VERSION_NUMBER'), {}, 'bank-unreachable', /TLS handshake.*VERSION/],
    [
      'two addresses',
      wrapped(new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')], 'hunter2')),
      {},
      'bank-unreachable',
      /ECONNREFUSED/,
    ],
    ['a text', 'hunter2', {}, 'bank-unreachable', /failed/],
    ['nothing', undefined, {}, 'bank-unreachable', /failed/],
  ])('%s: has its code and reason, and nothing from its cause', (_name, thrown, change, code, detail) => {
    const reported = failure(thrown, change);
    expect(reported).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect(reported.detail).toMatch(/the account list/i);
    expect(reported.detail + String(reported.stack)).not.toContain('hunter2');
    expect(reported.cause).toBeUndefined();
  });

  it('is what the agent made of it, however deep', () => {
    const unconnected = new GatewayError('proxy-refused', 'said no');
    expect(failure(wrapped(wrapped(unconnected)), { timedOut: true })).toBe(unconnected);
  });

  it('may have a cycle of causes', () => {
    const first = withCode('ECONNREFUSED');
    first.cause = wrapped(first);
    expect(failure(first).code).toBe('bank-unreachable');
  });
});
