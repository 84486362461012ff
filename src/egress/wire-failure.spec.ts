import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway-error.js';
import { CallFailed, type Connection } from './connection.js';
import { toWireError } from './wire-failure.js';

const SETTINGS = { BANK_REQUEST_TIMEOUT_MS: 10_000, BANK_MAX_RESPONSE_BYTES: 1000 };
const DIRECT = { address: 'api.bank.example:443', proxy: null, isClassical: false, mayResume: false };

type Facts = Partial<Connection>;
/** A connection that has sent its ClientHello. */
const HELLO: Facts = {
  route: DIRECT,
  isSecure: false,
  hasArrived: false,
  hasServerHello: false,
  isAnswered: false,
  isUntrusted: false,
  untrustedChain: [],
  isJudgedLate: false,
};
const CERTIFICATE: Facts = { ...HELLO, hasArrived: true, hasServerHello: true };
const OPEN: Facts = { ...CERTIFICATE, isSecure: true };
const TUNNEL: Facts = { ...HELLO, route: { ...DIRECT, proxy: 'proxy.example:3128' } };
const CLASSICAL: Facts = { ...HELLO, route: { ...DIRECT, isClassical: true } };

type Change = {
  readonly target?: string;
  readonly timedOut?: boolean;
  readonly status?: number;
  readonly reusedSocket?: boolean;
  readonly connection?: Facts;
  readonly isRejection?: boolean;
};
function failure(thrown: unknown, change: Change = {}) {
  const {
    target = 'the account list',
    timedOut = false,
    status = null,
    reusedSocket = false,
    isRejection = false,
  } = change;
  const connection = (change.connection ?? null) as Connection | null;
  const failed = new CallFailed(thrown, status, reusedSocket, connection);
  failed.isRejection = isRejection;
  return toWireError(failed, target, timedOut, SETTINGS);
}
const withCode = (code: string, rest: object = {}) => Object.assign(new Error(`hunter2 ${code}`), { code, ...rest });
/** A failure as axios wraps it: with its own code, and the whole call attached. */
const wrapped = (cause: Error, code = 'ERR_NETWORK') =>
  Object.assign(new Error('hunter2', { cause }), { code, config: { headers: { Authorization: 'hunter2' } } });
const alert = (number: number) =>
  withCode('ERR_SSL_SOME_NAME', { message: `00A:error:0A:SSL routines:ssl3_read_bytes:x:SSL alert number ${number}` });
/** Node's errors while the request waits to be sent: only the message has the reason. */
const waiting = (reason: string) =>
  withCode('EPROTO', {
    message: `write EPROTO 80C8A3F4:error:0A000102:SSL routines:some_function:${reason}:../deps/openssl/x.c:1989:\n`,
  });

describe('a TLS alert', () => {
  it.each([40, 42, 43, 44, 45, 46, 47, 48, 49, 51, 116])(
    '%i means a rejected certificate, even on a kept connection and after the deadline',
    (number) => {
      const failed = failure(alert(number), { reusedSocket: true, timedOut: true, connection: OPEN });
      expect(failed).toMatchObject({ code: 'certificate-rejected', owner: 'operator' });
      expect(failed.detail).toContain(`(TLS alert ${number})`);
    },
  );

  it.each([
    [10, 'bank-untrusted', 'operator'],
    [20, 'bank-untrusted', 'operator'],
    [70, 'bank-untrusted', 'operator'],
    [71, 'bank-untrusted', 'operator'],
    [80, 'bank-error', 'bank'],
    [112, 'bank-untrusted', 'operator'],
    [120, 'bank-untrusted', 'operator'],
  ])('%i means %s, owner %s, with a reason in words', (number, code, owner) => {
    for (const connection of [HELLO, OPEN]) {
      const failed = failure(alert(number), { connection });
      expect([failed.code, failed.owner]).toEqual([code, owner]);
      expect(failed.detail).toMatch(new RegExp(`: .*[a-z].* \\(TLS alert ${number}\\)\\.$`));
    }
  });

  it("40 concerns version, cipher or group if it replaces the server's first message, else our certificate", () => {
    expect(failure(alert(40), { connection: HELLO }).code).toBe('bank-untrusted');
    expect(failure(alert(40), { connection: CERTIFICATE }).code).toBe('certificate-rejected');
  });
});

describe('a TLS failure on our own side', () => {
  it.each([
    ['unsupported protocol', /no common TLS version/],
    ['wrong ssl version', /no common TLS version/],
    ['tlsv1 alert protocol version', /no common TLS version/],
    ['unsafe legacy renegotiation disabled', /renegotiation/],
    ['wrong cipher returned', /cipher/],
    ['no ciphers available', /cipher/],
    ['wrong curve', /group/],
    ['bad key share', /group/],
    ['dh key too small', /group/],
    ['ee key too small', /too weak/],
    ['ca md too weak', /too weak/],
    ['wrong signature type', /signature/],
    ['wrong version number', /does not speak TLS/],
    ['packet length too long', /does not speak TLS/],
    ['http request', /does not speak TLS/],
    ['unexpected message', /not valid TLS/],
  ])("(%s) has the operator as its owner and a reason in words, whatever Node's error code", (reason, words) => {
    const code = `ERR_SSL_${reason.toUpperCase().replaceAll(' ', '_')}`;
    for (const error of [waiting(reason), wrapped(withCode(code)), wrapped(withCode(code), 'ECONNRESET')]) {
      const failed = failure(error, { connection: HELLO });
      expect([failed.code, failed.owner]).toEqual(['bank-untrusted', 'operator']);
      expect(failed.detail).toMatch(words);
      expect(failed.detail).toContain(`(${reason})`);
      expect(failed.detail).not.toContain('hunter2');
    }
  });

  it('in a tunnel that leads to something other than TLS belongs to the proxy', () => {
    const { code, detail } = failure(waiting('wrong version number'), { connection: TUNNEL });
    expect([code, detail]).toEqual(['proxy-refused', expect.stringContaining('does not lead to a TLS server')]);
  });

  it.each([
    ['CERT_HAS_EXPIRED', 'certificate has expired', 'by the clock of this machine it has expired (CERT_HAS_EXPIRED)'],
    [
      'CERT_NOT_YET_VALID',
      'certificate is not yet valid',
      'by the clock of this machine it is not valid yet (CERT_NOT_YET_VALID)',
    ],
    ['UNSPECIFIED', 'EE certificate key too weak', 'its key or its signature is too weak (UNSPECIFIED)'],
  ])('at an untrusted server (%s) names the reason', (code, message, words) => {
    const untrusted = failure(withCode(code, { message }), { connection: { ...CERTIFICATE, isUntrusted: true } });
    expect(untrusted.code).toBe('bank-untrusted');
    expect(untrusted.detail).toContain(words);
  });
});

it('two closed connections that mean a rejection lead to an error that names the chain, the allowlist and the version, and to no long back-off', () => {
  const rejected = failure(withCode('ECONNRESET'), { connection: OPEN, isRejection: true });
  expect(rejected).toMatchObject({ code: 'certificate-rejected', isRejection: false });
  expect(rejected.detail).toMatch(/chain.*allowlist.*BANK_TLS_MAX_VERSION=1\.2/);
});

it('a host name at the start of a sentence is not capitalized', () => {
  const { detail } = failure(withCode('X'), { timedOut: true, target: 'api.bank.example:443' });
  expect(detail).toMatch(/^api\.bank\.example:443 gave/);
});

describe('a failed call', () => {
  it.each<[string, unknown, Change, string, RegExp]>([
    ['closed after the handshake', wrapped(withCode('EPIPE')), { connection: OPEN }, 'bank-unreachable', /its answer/],
    ['reset in the handshake', wrapped(withCode('ECONNRESET')), { connection: HELLO }, 'bank-unreachable', /handshake/],
    [
      'reset in the handshake with classical groups too',
      withCode('ECONNRESET'),
      { connection: CLASSICAL },
      'bank-unreachable',
      /handshake.*classical.*BANK_TLS_MAX_VERSION=1\.2/,
    ],
    ['reset in a tunnel', withCode('ECONNRESET'), { connection: TUNNEL }, 'bank-unreachable', /proxy.*before any data/],
    ['reset at our deadline', withCode('ECONNRESET'), { connection: OPEN, timedOut: true }, 'bank-timeout', /10000 ms/],
    ['late within the answer', withCode('ERR_CANCELED'), { timedOut: true, status: 200 }, 'bank-timeout', /10000 ms/],
    [
      'reset within the answer',
      withCode('ECONNRESET', { syscall: 'read' }),
      { status: 200, connection: { ...OPEN, isAnswered: true } },
      'bank-unreachable',
      /closed.*the account list/,
    ],
    [
      'cut within the answer',
      withCode('ECONNRESET'),
      { status: 200 },
      'bank-response-invalid',
      /account list.*cut off/,
    ],
    ['an unknown code', wrapped(withCode('EMFILE')), {}, 'bank-unreachable', /failed.*EMFILE/],
    ['a text', 'hunter2', {}, 'bank-unreachable', /failed/],
    ['nothing', undefined, {}, 'bank-unreachable', /failed/],
  ])('%s: has its code and reason, and no text from its cause', (_name, thrown, change, code, detail) => {
    const reported = failure(thrown, change);
    expect(reported).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect(reported.detail + String(reported.stack)).not.toContain('hunter2');
    expect(reported.cause).toBeUndefined();
  });

  it("is the agent's GatewayError, however deeply it is nested", () => {
    const unconnected = new GatewayError('proxy-refused', 'said no');
    expect(failure(wrapped(wrapped(unconnected)), { timedOut: true })).toBe(unconnected);
  });

  it('may have cyclic causes', () => {
    const first = withCode('ECONNREFUSED');
    first.cause = wrapped(first);
    expect(failure(first).code).toBe('bank-unreachable');
  });
});
