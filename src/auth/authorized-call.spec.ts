import { Activity } from '../telemetry/activity.js';
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { TooLateToSend } from '../egress/egress.js';
import type { Settings } from '../config/settings.js';
import type { WireRequest } from '../egress/wire-client.js';
import { GatewayError } from '../errors/gateway-error.js';
import { AccessTokenProvider, toAccessToken } from './access-token-provider.js';
import { AuthorizedCall, NoToken } from './authorized-call.js';
import type { BankIdentity } from './bank-identity.js';

/** A call through the real token rules, with a scripted bank. */
function begin(answers: (number | Error | (() => Error))[], parts: { token?: Error; certificate?: object } = {}) {
  const clock = new FakeClock();
  const { logger } = keepLines();
  const sent: WireRequest[] = [];
  const counts = { tokens: 0 };
  const identity = {
    certificate: parts.certificate ?? { notBefore: new Date(0), notAfter: new Date('2027-11-21') },
    tokens: new AccessTokenProvider({
      activity: new Activity(),
      clock,
      logger,
      request: () => {
        counts.tokens += 1;
        if (parts.token) return Promise.reject(parts.token);
        return Promise.resolve(toAccessToken(`token-${counts.tokens}`, 300_000, clock.now()));
      },
    }),
    egress: {
      get: (request: WireRequest) => {
        sent.push(request);
        const next = answers.shift() ?? 200;
        const answer = typeof next === 'function' ? next() : next;
        if (answer instanceof Error) return Promise.reject(answer);
        return Promise.resolve({ status: answer, headers: {}, body: Buffer.of() });
      },
    },
  } as unknown as BankIdentity;
  const identities = { current: identity, failed: () => Promise.resolve() };
  const call = new AuthorizedCall(identities, { BANK_BASE_URL: 'https://api.bank.example' } as Settings, clock);
  const get = (signal = new AbortController().signal) =>
    call.get({ path: '/api/v1/accounts', query: { PageNumber: '1' }, refreshId: 'r-1', signal });
  return {
    clock,
    counts,
    sent,
    call,
    identities,
    get,
    tokensSent: () => sent.map(({ headers }) => headers['Authorization']),
  };
}

describe('a call with certificate and token', () => {
  it('sends exactly the documented request, and the id of the refresh', async () => {
    const { get, sent } = begin([200]);
    expect((await get()).status).toBe(200);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      baseUrl: 'https://api.bank.example',
      path: '/api/v1/accounts',
      query: { PageNumber: '1' },
    });
    expect(sent[0]?.headers).toEqual({
      Accept: 'application/json',
      Authorization: 'Bearer token-1',
      'X-Request-Id': 'r-1',
    });
  });

  it('uses a new token if its own expired in the queue', async () => {
    const late = () => {
      clock.advance(295_000);
      return new TooLateToSend();
    };
    const { get, sent, tokensSent, clock } = begin([late, 200]);
    const { wall, monotonic } = clock.now();
    expect((await get()).status).toBe(200);
    expect(sent.map(({ sendBefore }) => sendBefore)).toEqual([
      { wall: wall + 295_000, monotonic: monotonic + 295_000 },
      { wall: wall + 590_000, monotonic: monotonic + 590_000 },
    ]);
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-2']);
  });
});

describe('a 401', () => {
  it('is retried with another token within the call', async () => {
    const { get, tokensSent } = begin([401, 200]);
    expect((await get()).status).toBe(200);
    expect(tokensSent()).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('is final after one retry', async () => {
    const { get, sent, counts } = begin([401, 401, 401]);
    expect((await get()).status).toBe(401);
    expect([sent.length, counts.tokens]).toEqual([2, 2]);
  });
});

describe('without a token', () => {
  it('because another identity has taken over, the call uses that identity', async () => {
    const [old, other] = [begin([], { token: new GatewayError('stopping', 'replaced') }), begin([200])];
    const getting = old.get();
    old.identities.current = other.identities.current;
    expect((await getting).status).toBe(200);
    expect([old.sent.length, other.tokensSent()]).toEqual([0, ['Bearer token-1']]);
  });

  it('the account list is not called, and the error reports that', async () => {
    const { get, sent } = begin([], { token: new GatewayError('credentials-rejected', 'no') });
    const error = await rejectionOf(get);
    expect(error).toBeInstanceOf(NoToken);
    expect([error.code, error.owner, error.retryAfterMs, sent.length]).toEqual([
      'credentials-rejected',
      'operator',
      expect.any(Number),
      0,
    ]);
  });

  it('an unusable certificate prevents any call', async () => {
    const { get, sent, counts } = begin([], { certificate: { notBefore: new Date(0), notAfter: new Date(1) } });
    const error = await rejectionOf(get);
    expect(error).toBeInstanceOf(NoToken);
    expect([error.code, sent.length, counts.tokens]).toEqual(['certificate-unusable', 0, 0]);
  });

  it('the negative case: a failure of the call itself is not reported as a missing token', async () => {
    const { get } = begin([new GatewayError('bank-unreachable', 'down')]);
    const error = await rejectionOf(get);
    expect(error).not.toBeInstanceOf(NoToken);
    expect(error.code).toBe('bank-unreachable');
  });

  it('nothing is sent for a caller who has left', async () => {
    const { get, sent } = begin([200]);
    const reason = new GatewayError('stopping', 'bye');
    expect(await rejectionOf(() => get(AbortSignal.abort(reason)))).toBe(reason);
    expect(sent).toEqual([]);
  });
});
