import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import type { WireRequest } from '../egress/wire-client.js';
import { requestToken, toAccessToken } from './request-token.js';

const SECRETS = { username: 'Jürgen', password: 'p:ä$s' };

/** Asks a token endpoint that answers with `expiresIn` after `tookMs`. */
async function ask(expiresIn: unknown, tookMs = 0) {
  const clock = new FakeClock();
  const log = keepLines();
  const requests: WireRequest[] = [];
  const askedAt = clock.now();
  const token = await requestToken({
    egress: {
      get: (request: WireRequest) => {
        requests.push(request);
        clock.advance(tookMs);
        const body = Buffer.from(JSON.stringify({ access_token: 'the-token', expires_in: expiresIn }));
        return Promise.resolve({ status: 200, contentType: 'text/plain', retryAfter: null, pieces: [body] });
      },
    },
    authUrl: 'https://auth.bank.example/m2m',
    material: SECRETS,
    clock,
    logger: log.logger,
  });
  return { token, requests, log, askedAt };
}

describe('asking for a token', () => {
  it('sends exactly what the document of the bank says, as UTF-8', async () => {
    const { requests } = await ask('300');
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      baseUrl: 'https://auth.bank.example/m2m',
      path: '/api/v1/authorizations/authorize',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Basic ${Buffer.from('Jürgen:p:ä$s').toString('base64')}`,
      },
    });
    expect(Object.keys(requests[0]?.headers ?? {})).toHaveLength(2);
  });

  it('its life counts from before the request', async () => {
    const { token, askedAt } = await ask('300', 20_000);
    expect([token.requestedAt, token.lifetimeMs]).toEqual([askedAt, 300_000]);
  });

  it('it is to be renewed from 80 % of its life, give or take 5 %, spread', async () => {
    const parts = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const { token } = await ask('300');
        return (token.renewAt.wall - token.requestedAt.wall) / token.lifetimeMs;
      }),
    );
    expect(Math.min(...parts)).toBeGreaterThanOrEqual(0.75);
    expect(Math.max(...parts)).toBeLessThanOrEqual(0.85);
    expect(Math.max(...parts) - Math.min(...parts)).toBeGreaterThan(0.02);
  });

  it.each([undefined, 'soon', 0, 1e9])('a lifetime of %p is taken as 60 s, with a warning', async (expiresIn) => {
    const { token, log } = await ask(expiresIn);
    expect(token.lifetimeMs).toBe(60_000);
    expect(log.lines('token.lifetime-unknown')).toEqual([expect.objectContaining({ level: 'warn' })]);
  });

  it('a life that can be used is taken without a word', async () => {
    expect((await ask('300')).log.written).toEqual([]);
  });
});

describe('a token may be sent', () => {
  const usableMs = (lifetimeMs: number) => {
    const now = new FakeClock().now();
    const { unusableAt } = toAccessToken('x', lifetimeMs, now);
    expect(unusableAt.monotonic - now.monotonic).toBe(unusableAt.wall - now.wall);
    return unusableAt.wall - now.wall;
  };

  it.each([
    [300_000, 295_000],
    [50_000, 45_000],
    [60_000, 55_000],
  ])('with %i ms of life for %i ms: until 5 s before its end', (lifetimeMs, ms) => {
    expect(usableMs(lifetimeMs)).toBe(ms);
  });

  it.each([
    [10_000, 9000],
    [1000, 900],
  ])('with %i ms of life for %i ms: a short one until a tenth before its end', (lifetimeMs, ms) => {
    expect(usableMs(lifetimeMs)).toBe(ms);
  });
});
