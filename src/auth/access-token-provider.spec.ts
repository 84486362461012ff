import { Activity } from '../telemetry/activity.js';
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { GatewayError, type GatewayErrorOptions } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { AccessTokenProvider, toAccessToken, type AccessToken } from './access-token-provider.js';

const LIFE_MS = 300_000;

/** A provider with a scripted bank: the test decides when and how it responds. */
class Scene {
  readonly clock = new FakeClock();
  readonly log = keepLines();
  readonly outcomes: (ProblemCode | null)[] = [];
  readonly activity = new Activity().on('tokenRequestEnded', ({ error }) => this.outcomes.push(error?.code ?? null));
  readonly asked: (PromiseWithResolvers<AccessToken> & { readonly at: ReturnType<FakeClock['now']> })[] = [];
  readonly provider = new AccessTokenProvider({
    activity: this.activity,
    clock: this.clock,
    logger: this.log.logger,
    random: () => 0,
    request: () => {
      const request = { ...Promise.withResolvers<AccessToken>(), at: this.clock.now() };
      this.asked.push(request);
      return request.promise;
    },
  });

  /** Makes the bank return a token for the last request. */
  async issue(value = `token-${this.asked.length}`, lifetimeMs = LIFE_MS): Promise<AccessToken> {
    const request = this.asked.at(-1);
    if (!request) throw new Error('nothing was asked');
    const token = toAccessToken(value, lifetimeMs, request.at, () => 0.5);
    request.resolve(token);
    await settle();
    return token;
  }

  async fail(code: ProblemCode = 'bank-unreachable', options?: GatewayErrorOptions): Promise<void> {
    this.asked.at(-1)?.reject(new GatewayError(code, 'as scripted', options));
    await settle();
  }

  /** Acquires a first token. */
  async begin(lifetimeMs = LIFE_MS): Promise<AccessToken> {
    const getting = this.provider.get();
    await this.issue(undefined, lifetimeMs);
    return getting;
  }

  /** Makes the first request fail. Returns its error. */
  async beginFailing(code?: ProblemCode, options?: GatewayErrorOptions): Promise<GatewayError> {
    const getting = rejectionOf(() => this.provider.get());
    await this.fail(code, options);
    return getting;
  }
}

/** Runs all pending callbacks. The clock does not move. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('one request in flight', () => {
  it('serves all callers', async () => {
    const scene = new Scene();
    const all = Promise.all(Array.from({ length: 200 }, () => scene.provider.get()));
    const token = await scene.issue();
    expect(new Set(await all)).toEqual(new Set([token]));
    expect(scene.asked).toHaveLength(1);
  });

  it('fails all callers, and costs one request', async () => {
    const scene = new Scene();
    const all = Array.from({ length: 20 }, () => rejectionOf(() => scene.provider.get()));
    await scene.fail('credentials-rejected');
    expect((await Promise.all(all)).map(({ code }) => code)).toEqual(Array(20).fill('credentials-rejected'));
    expect(scene.asked).toHaveLength(1);
  });

  it('becomes internal-error if it throws anything else, and can be retried', async () => {
    const scene = new Scene();
    const getting = rejectionOf(() => scene.provider.get());
    scene.asked[0]?.reject(new TypeError('boom'));
    expect((await getting).code).toBe('internal-error');
    scene.clock.advance(1000);
    expect((await scene.begin()).value).toBe('token-2');
  });
});

describe('renewal in the background', () => {
  it('begins after 80 % of the lifetime, with one request, while the old token stays in use', async () => {
    const scene = new Scene();
    const old = await scene.begin();
    scene.clock.advance(239_999);
    await scene.provider.get();
    expect(scene.asked).toHaveLength(1);
    scene.clock.advance(1);
    const all = Array.from({ length: 50 }, () => scene.provider.get());
    expect(new Set(await Promise.all(all))).toEqual(new Set([old]));
    expect(scene.asked).toHaveLength(2);
    const next = await scene.issue();
    expect(await scene.provider.get()).toBe(next);
  });

  it('keeps the old token after a failure, and backs off', async () => {
    const scene = new Scene();
    const old = await scene.begin();
    scene.clock.advance(240_000);
    await scene.provider.get();
    await scene.fail();
    expect(await scene.provider.get()).toBe(old);
    expect(scene.asked).toHaveLength(2);
    scene.clock.advance(1000);
    expect(await scene.provider.get()).toBe(old);
    expect(scene.asked).toHaveLength(3);
    expect(scene.provider.status()).toMatchObject({
      state: 'usable',
      trouble: { error: { code: 'bank-unreachable' } },
    });
    await scene.issue();
    expect(scene.provider.status()).toMatchObject({ trouble: null });
    expect(scene.outcomes).toEqual([null, 'bank-unreachable', null]);
  });

  it('costs one request per life under steady traffic, even if the bank issues the same token again', async () => {
    const scene = new Scene();
    const getting = scene.provider.get();
    await scene.issue('same');
    await getting;
    for (let second = 0; second < 900; second += 1) {
      scene.clock.advance(1000);
      const token = await scene.provider.get();
      expect(scene.clock.since(token.requestedAt)).toBeLessThan(LIFE_MS - 5000);
      if (scene.asked.length > scene.log.lines('token.acquired').length) await scene.issue('same');
    }
    expect(scene.asked).toHaveLength(4);
  });
});

describe('the end of a token', () => {
  it('comes 5 s early', async () => {
    const scene = new Scene();
    const old = await scene.begin();
    scene.clock.advance(294_999);
    expect(scene.provider.usable).toBe(old);
    scene.clock.advance(1);
    expect(scene.provider.usable).toBeNull();
    const getting = scene.provider.get();
    expect((await scene.issue()).value).toBe((await getting).value);
  });

  it.each([
    ['only the wall clock has reached it, as after a sleep', (clock: FakeClock) => clock.moveWall(295_000)],
    ['only the monotonic clock has reached it', (clock: FakeClock) => clock.moveMonotonic(295_000)],
  ])('comes when %s', async (_name, move) => {
    const scene = new Scene();
    await scene.begin();
    move(scene.clock);
    expect(scene.provider.usable).toBeNull();
  });

  it('is final: an expired token is never returned, even while the bank fails', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(294_500);
    await scene.provider.get();
    await scene.fail();
    scene.clock.advance(500);
    expect((await rejectionOf(() => scene.provider.get())).code).toBe('bank-unreachable');
  });

  it('makes a token unusable that arrives after it', async () => {
    const scene = new Scene();
    const getting = rejectionOf(() => scene.provider.get());
    scene.clock.moveWall(400_000);
    await scene.issue();
    expect((await getting).code).toBe('bank-timeout');
    expect(scene.provider.usable).toBeNull();
  });
});

describe('the back-off after a failure', () => {
  it('returns the error at once with the remaining time, without a call to the bank', async () => {
    const scene = new Scene();
    await scene.beginFailing();
    scene.clock.advance(400);
    const error = await rejectionOf(() => scene.provider.get());
    expect([error.code, error.retryAfterMs, scene.asked.length]).toEqual(['bank-unreachable', 600, 1]);
  });

  it('ends with resetBackOff', async () => {
    const scene = new Scene();
    await scene.beginFailing('credentials-rejected');
    expect(scene.provider.failureNow()?.code).toBe('credentials-rejected');
    scene.provider.resetBackOff();
    expect(scene.provider.failureNow()).toBeNull();
    expect((await scene.begin()).value).toBe('token-2');
  });
});

describe('a token that the bank rejects', () => {
  it('is renewed once for 50 late 401s', async () => {
    const scene = new Scene();
    const rejected = await scene.begin();
    const replacing = Array.from({ length: 25 }, () => scene.provider.replace(rejected));
    expect(scene.provider.usable).toBeNull();
    const next = await scene.issue();
    const later = Array.from({ length: 25 }, () => scene.provider.replace(rejected));
    expect(new Set(await Promise.all([...replacing, ...later]))).toEqual(new Set([next]));
    expect([scene.asked.length, scene.log.lines('token.rejected').length]).toEqual([2, 1]);
  });

  it('is not dropped because of a late 401 for an older one', async () => {
    const scene = new Scene();
    const old = await scene.begin();
    scene.clock.advance(240_000);
    await scene.provider.get();
    const current = await scene.issue();
    scene.clock.advance(20_000);
    expect(await scene.provider.replace(old)).toBe(current);
    expect(scene.provider.usable).toBe(current);
    expect(scene.asked).toHaveLength(2);
  });

  it('is replaced at most once in 5 s; a second 401 is final', async () => {
    const scene = new Scene();
    const replacing = scene.provider.replace(await scene.begin());
    const second = await scene.issue();
    await replacing;
    scene.clock.advance(4999);
    expect(await scene.provider.replace(second)).toBeNull();
    expect(scene.asked).toHaveLength(2);
    scene.clock.advance(1);
    const again = scene.provider.replace(second);
    const third = await scene.issue();
    expect(await again).toBe(third);
  });

  it('shares a renewal that is in flight', async () => {
    const scene = new Scene();
    const rejected = await scene.begin();
    scene.clock.advance(240_000);
    await scene.provider.get();
    const replacing = scene.provider.replace(rejected);
    const next = await scene.issue();
    expect(await replacing).toBe(next);
    expect(scene.asked).toHaveLength(2);
  });

  it('is not returned again when the renewal in flight fails', async () => {
    const scene = new Scene();
    const rejected = await scene.begin();
    scene.clock.advance(240_000);
    await scene.provider.get();
    const replacing = rejectionOf(() => scene.provider.replace(rejected));
    await scene.fail();
    expect((await replacing).code).toBe('bank-unreachable');
    expect((await rejectionOf(() => scene.provider.get())).code).toBe('bank-unreachable');
  });
});

it('the status contains the state of the token and the failure', async () => {
  const scene = new Scene();
  const states = [scene.provider.status().state];
  await scene.beginFailing('credentials-rejected');
  states.push(scene.provider.status().state);
  expect(scene.provider.status()).toMatchObject({
    expiresAt: null,
    expiresInSeconds: null,
    trouble: { error: { code: 'credentials-rejected' }, circuit: 'open' },
  });
  scene.clock.advance(30_000);
  states.push(scene.provider.status().state);
  expect(scene.provider.status().trouble?.circuit).toBe('half-open');
  const getting = scene.provider.get();
  states.push(scene.provider.status().state);
  await scene.issue();
  await getting;
  expect(states).toEqual(['none', 'waiting', 'none', 'requested']);
  expect(scene.provider.status()).toEqual({
    state: 'usable',
    expiresAt: scene.clock.now().wall + 300_000,
    usableUntil: scene.clock.now().wall + 295_000,
    expiresInSeconds: 300,
    trouble: null,
  });
});

describe('the log', () => {
  it('records a new token without its value', async () => {
    const scene = new Scene();
    await scene.begin();
    expect(scene.log.lines('token.acquired')).toEqual([
      expect.objectContaining({ level: 'info', lifetimeSeconds: 300 }),
    ]);
    expect(scene.log.written.join('')).not.toContain('token-1');
  });

  it.each([
    ['credentials-rejected', 'error'],
    ['bank-unreachable', 'warn'],
  ] as const)('has a failed token request with %s as %s, with the time of the next attempt', async (code, level) => {
    const scene = new Scene();
    const error = await scene.beginFailing(code);
    expect(scene.log.lines('token.failed')).toEqual([
      expect.objectContaining({ level, code, owner: error.owner, retryInMs: error.retryAfterMs }),
    ]);
  });
});

it.each([0, 1, 2])('the state is read at a single moment, even if time passes while it is read (%i)', async (ms) => {
  const scene = new Scene();
  const { unusableAt } = await scene.begin();
  scene.clock.advance(unusableAt.wall - scene.clock.now().wall - 10 - ms);
  const now = scene.clock.now.bind(scene.clock);
  scene.clock.now = () => {
    scene.clock.advance(1);
    return now();
  };
  for (let look = 0; look < 10; look++) {
    const { state, expiresAt } = scene.provider.status();
    expect(state === 'usable').toBe(expiresAt !== null);
  }
});
