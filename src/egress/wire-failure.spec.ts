import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway-error.js';
import { CallFailed } from './failures.js';
import { toWireError, type FailureContext } from './wire-failure.js';

const SETTINGS = { BANK_REQUEST_TIMEOUT_MS: 10_000, BANK_MAX_RESPONSE_BYTES: 1000 };
const CONTEXT = { target: 'the account list', timedOut: false, settings: SETTINGS };

type Change = Partial<FailureContext & CallFailed>;
const failure = (thrown: unknown, { status = null, reusedSocket = false, stage = null, ...change }: Change = {}) =>
  toWireError(new CallFailed(thrown, status, reusedSocket, stage), { ...CONTEXT, ...change });
const withCode = (code: string, rest: object = {}) => Object.assign(new Error(`hunter2 ${code}`), { code, ...rest });
/** A failure as axios wraps it: with its own code, and the whole call attached. */
const wrapped = (cause: Error, code = 'ERR_NETWORK') =>
  Object.assign(new Error('hunter2', { cause }), { code, config: { headers: { Authorization: 'hunter2' } } });
const alert = (number: number) =>
  withCode('ERR_SSL_SOME_NAME', { message: `00A:error:0A:SSL routines:ssl3_read_bytes:x:SSL alert number ${number}` });

describe('a TLS alert', () => {
  it.each([40, 42, 43, 44, 45, 46, 47, 48, 116])(
    '%i is a rejected certificate, also on a kept connection and after the deadline',
    (number) => {
      expect(failure(alert(number), { reusedSocket: true, timedOut: true }).code).toBe('certificate-rejected');
    },
  );

  it.each([10, 20, 50, 70, 71, 80, 112])('%i is not a rejected certificate', (number) => {
    expect(failure(alert(number), { stage: 'TLS' }).code).toBe('bank-unreachable');
  });
});

it('a host name at the start of a sentence keeps its lower case', () => {
  const { detail } = failure(withCode('EPIPE'), { stage: 'open', target: 'api.bank.example:443' });
  expect(detail).toMatch(/^api\.bank\.example:443 closed/);
});

describe('a failed call', () => {
  const OPEN: Change = { stage: 'open' };
  const TLS: Change = { stage: 'TLS' };

  it.each<[string, unknown, Change, string, RegExp]>([
    ['closed twice after the handshake', wrapped(withCode('EPIPE')), OPEN, 'certificate-rejected', /chain.*allowlist/],
    ['reset twice after the handshake', withCode('ECONNRESET'), OPEN, 'certificate-rejected', /two connections/],
    ['reset in the handshake', wrapped(withCode('ECONNRESET')), TLS, 'bank-unreachable', /before the TLS handshake/],
    ['reset while connecting', withCode('ECONNRESET'), { stage: 'TCP' }, 'bank-unreachable', /TCP connection/],
    ['without an answer of DNS', withCode('EBUSY'), { stage: 'DNS' }, 'bank-unreachable', /^DNS .*EBUSY/],
    [
      'without a local address for the connection',
      withCode('EADDRNOTAVAIL', { syscall: 'connect' }),
      { stage: 'TCP' },
      'bank-unreachable',
      /^There is no route/,
    ],
    ['reset on a kept connection', withCode('EPIPE'), { ...OPEN, reusedSocket: true }, 'bank-unreachable', /closed/],
    ['reset at our deadline', withCode('ECONNRESET'), { ...OPEN, timedOut: true }, 'bank-timeout', /10000 ms/],
    ['in the handshake at our deadline', withCode('ERR_CANCELED'), { ...TLS, timedOut: true }, 'bank-timeout', /10000/],
    [
      'without TCP at our deadline',
      withCode('ERR_CANCELED'),
      { stage: 'TCP', timedOut: true },
      'bank-unreachable',
      /TCP.*10000 ms/,
    ],
    [
      'without DNS at our deadline',
      withCode('ERR_CANCELED'),
      { stage: 'DNS', timedOut: true },
      'bank-unreachable',
      /DNS.*10000 ms/,
    ],
    ['late within the answer', withCode('ERR_CANCELED'), { timedOut: true, status: 200 }, 'bank-timeout', /10000 ms/],
    [
      'reset within the answer',
      withCode('ECONNRESET', { syscall: 'read' }),
      { status: 200, stage: 'open' },
      'bank-unreachable',
      /closed/,
    ],
    ['ECONNREFUSED', wrapped(withCode('ECONNREFUSED')), {}, 'bank-unreachable', /refused.*ECONNREFUSED/],
    ['ENOTFOUND', wrapped(withCode('ENOTFOUND')), {}, 'bank-unreachable', /DNS could not resolve.*ENOTFOUND/],
    ['EHOSTUNREACH', wrapped(withCode('EHOSTUNREACH')), {}, 'bank-unreachable', /no route.*EHOSTUNREACH/],
    ['an unknown code', wrapped(withCode('EMFILE')), {}, 'bank-unreachable', /failed.*EMFILE/],
    ['noise instead of TLS', withCode('EPROTO'), {}, 'bank-unreachable', /TLS handshake.*EPROTO/],
    ['no TLS', withCode('ERR_SSL_WRONG_VERSION_NUMBER'), TLS, 'bank-unreachable', /does not speak TLS.*VERSION/],
    [
      'two addresses',
      wrapped(new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')], 'hunter2')),
      {},
      'bank-unreachable',
      /ECONNREFUSED/,
    ],
    ['a text', 'hunter2', {}, 'bank-unreachable', /failed/],
    ['nothing', undefined, {}, 'bank-unreachable', /failed/],
  ])('%s: has its code and reason, and no text of its cause', (_name, thrown, change, code, detail) => {
    const reported = failure(thrown, change);
    expect(reported).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect(reported.detail).toMatch(/the account list/i);
    expect(reported.detail + String(reported.stack)).not.toContain('hunter2');
    expect(reported.cause).toBeUndefined();
  });

  it('is the GatewayError of the agent, however deep it is nested', () => {
    const unconnected = new GatewayError('proxy-refused', 'said no');
    expect(failure(wrapped(wrapped(unconnected)), { timedOut: true })).toBe(unconnected);
  });

  it('may have cyclic causes', () => {
    const first = withCode('ECONNREFUSED');
    first.cause = wrapped(first);
    expect(failure(first).code).toBe('bank-unreachable');
  });
});
