import { Activity } from '../telemetry/activity.js';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Instant } from '../time/clock.js';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { refusalOf } from '../../test/support/refusal-of.js';
import { NoToken } from '../auth/authorized-call.js';
import { BankCondition } from '../auth/bank-condition.js';
import { GatewayError, type GatewayErrorOptions } from '../problems/gateway-error.js';
import { PROBLEM_CODES, type ProblemCode } from '../problems/problem-table.js';
import { account } from './sample-account.test-support.js';
import { Snapshot } from './snapshot.js';
import { SnapshotBuilder } from './snapshot-builder.js';
import type { Freshness } from './freshness.js';
import { SnapshotCache } from './snapshot-cache.js';
import type { ReadSnapshot } from './snapshot-reader.js';

const FRESH_MS = 10_000;
const STALE_MS = 300_000;
const SETTINGS = {
  SNAPSHOT_FRESH_MS: FRESH_MS,
  SNAPSHOT_SOFT_TIMEOUT_MS: 30,
  SNAPSHOT_MAX_AGE_MS: STALE_MS,
  SNAPSHOT_READ_TIMEOUT_MS: 5000,
  REQUEST_DEADLINE_MS: 80,
  MAX_REQUESTS_WAITING: 100,
};

const PLAIN: Freshness = { noCache: false, maxAge: null, onlyIfCached: false };
const NO_CACHE: Freshness = { ...PLAIN, noCache: true };
const ONLY_IF_CACHED: Freshness = { ...PLAIN, onlyIfCached: true };
const maxAge = (seconds: number): Freshness => ({ ...PLAIN, maxAge: seconds });

type PendingRefresh = PromiseWithResolvers<ReadSnapshot> & {
  readonly refreshId: string;
  readonly signal: AbortSignal;
  readonly askedAt: Instant;
};

const scenes: Scene[] = [];
// ends the refreshes that a test left open
afterEach(() => {
  for (const { snapshots } of scenes.splice(0)) snapshots.onApplicationShutdown();
});

/** A cache whose refreshes end when, and with what, the test decides. The clock stands still unless it is moved. */
class Scene {
  readonly clock = new FakeClock(Date.UTC(2026, 10, 21, 8));
  readonly log = keepLines();
  readonly asked: PendingRefresh[] = [];
  readonly condition = new BankCondition(this.clock, this.log.logger);
  readonly snapshots: SnapshotCache;

  constructor(settings: Partial<typeof SETTINGS> = {}) {
    scenes.push(this);
    const reader = {
      read: (refreshId: string, signal: AbortSignal) => {
        const refresh = { ...Promise.withResolvers<ReadSnapshot>(), refreshId, signal, askedAt: this.clock.now() };
        signal.addEventListener('abort', () => refresh.reject(signal.reason));
        this.asked.push(refresh);
        return refresh.promise;
      },
    };
    this.snapshots = new SnapshotCache({
      activity: new Activity(),
      reader,
      settings: { ...SETTINGS, ...settings },
      clock: this.clock,
      logger: this.log.logger,
      condition: this.condition,
    });
  }

  answer(count = 3, complete: boolean | null = true): void {
    const refresh = this.asked.at(-1);
    if (!refresh) throw new Error('nothing was asked');
    const builder = new SnapshotBuilder();
    for (let index = 0; index < count; index++) builder.add(account({ id: `a-${index}` }));
    const { askedAt } = refresh;
    const buffer = builder.finish({ asOf: new Date(askedAt.wall).toISOString(), complete });
    const snapshot = new Snapshot(buffer, { askedAt, durationMs: this.clock.since(askedAt) });
    refresh.resolve({ snapshot, pages: 1 });
  }

  fail(code: ProblemCode = 'bank-unreachable', options?: GatewayErrorOptions): void {
    this.asked.at(-1)?.reject(new GatewayError(code, 'as scripted', options));
  }

  /** Makes a first refresh of `count` accounts, which took `tookMs`. */
  async begin(count = 3, tookMs = 0): Promise<void> {
    const getting = this.snapshots.get(PLAIN);
    this.clock.advance(tookMs);
    this.answer(count);
    await getting;
  }

  /** A refresh that a caller asked for fails. */
  async beginFailing(code?: ProblemCode, options?: GatewayErrorOptions): Promise<void> {
    const getting = this.snapshots.get(PLAIN).catch(() => undefined);
    this.fail(code, options);
    await getting;
  }
}

describe('a snapshot that is fresh', () => {
  it('is served without asking the bank', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS);
    const served = await scene.snapshots.get(PLAIN);
    expect(served).toMatchObject({ ageMs: FRESH_MS, stale: false, cache: 'hit', refreshId: null });
    expect(served.snapshot.size).toBe(3);
    expect(scene.asked).toHaveLength(1);
  });

  it('is no longer fresh a moment later', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const getting = scene.snapshots.get(PLAIN);
    scene.answer(4);
    const served = await getting;
    expect(served).toMatchObject({ stale: false, cache: 'stale', ageMs: 0 });
    expect(served.snapshot.size).toBe(4);
    expect(served.refreshId).toBe(scene.asked[1]?.refreshId);
  });

  it('counts its age from before the bank was asked', async () => {
    const scene = new Scene();
    await scene.begin(3, 4000);
    const { ageMs, snapshot } = await scene.snapshots.get(PLAIN);
    expect([ageMs, snapshot.durationMs, snapshot.asOf]).toEqual([4000, 4000, '2026-11-21T08:00:00.000Z']);
  });
});

describe('one refresh in flight', () => {
  it('serves everybody who asks, on a cold start', async () => {
    const scene = new Scene();
    const all = Array.from({ length: 50 }, () => scene.snapshots.get(PLAIN));
    scene.answer();
    const served = await Promise.all(all);
    expect(new Set(served.map(({ snapshot }) => snapshot)).size).toBe(1);
    expect(served.every(({ cache, refreshId }) => cache === 'miss' && refreshId === scene.asked[0]?.refreshId)).toBe(
      true,
    );
    expect(scene.asked).toHaveLength(1);
  });

  it('fails everybody who asked, on a cold start', async () => {
    const scene = new Scene();
    const all = Array.from({ length: 50 }, () => refusalOf(() => scene.snapshots.get(PLAIN)));
    scene.fail('bank-response-invalid');
    expect((await Promise.all(all)).map(({ code }) => code)).toEqual(Array(50).fill('bank-response-invalid'));
    expect(scene.asked).toHaveLength(1);
  });

  it('serves those who want it of now, too', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(1001);
    const all = Array.from({ length: 5 }, () => scene.snapshots.get(NO_CACHE));
    scene.answer();
    await Promise.all(all);
    expect(scene.asked).toHaveLength(2);
  });

  it('has an id of its own', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const getting = scene.snapshots.get(PLAIN);
    scene.answer();
    await getting;
    expect(new Set(scene.asked.map(({ refreshId }) => refreshId)).size).toBe(2);
  });
});

describe('a bank that is slow', () => {
  it('past the soft timeout, an older copy is served, marked, and the bank is still being asked', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const started = performance.now();
    const served = await scene.snapshots.get(PLAIN);
    expect(performance.now() - started).toBeGreaterThanOrEqual(SETTINGS.SNAPSHOT_SOFT_TIMEOUT_MS - 2);
    expect(served).toMatchObject({ stale: true, cache: 'stale', ageMs: FRESH_MS + 1 });
    expect(scene.asked[1]?.signal.aborted).toBe(false);
    scene.answer(5);
    await scene.asked[1]?.promise;
    await delay(1);
    expect((await scene.snapshots.get(PLAIN)).snapshot.size).toBe(5);
    expect(scene.asked).toHaveLength(2);
  });

  it('serves nobody a copy that is past its maximum age', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(STALE_MS + 1);
    expect((await refusalOf(() => scene.snapshots.get(PLAIN))).code).toBe('bank-timeout');
  });

  it('serves no copy that grew past its maximum age while a caller waited', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(STALE_MS);
    const getting = refusalOf(() => scene.snapshots.get(PLAIN));
    scene.clock.advance(1);
    expect((await getting).code).toBe('bank-timeout');
  });

  it('serves the answer that comes after a copy grew past its maximum age', async () => {
    const scene = new Scene({ REQUEST_DEADLINE_MS: 2000 });
    await scene.begin();
    scene.clock.advance(STALE_MS);
    const getting = scene.snapshots.get(PLAIN);
    scene.clock.advance(1);
    await delay(SETTINGS.SNAPSHOT_SOFT_TIMEOUT_MS + 20);
    scene.answer(7);
    const served = await getting;
    expect([served.snapshot.size, served.stale]).toEqual([7, false]);
  });

  it('with nothing cached lets a caller go at their deadline, and is still being asked', async () => {
    const scene = new Scene();
    const started = performance.now();
    const error = await refusalOf(() => scene.snapshots.get(PLAIN));
    expect(performance.now() - started).toBeGreaterThanOrEqual(SETTINGS.REQUEST_DEADLINE_MS - 2);
    expect([error.code, error.status]).toEqual(['bank-timeout', 504]);
    expect(scene.asked[0]?.signal.aborted).toBe(false);
  });

  it('is given up after the time for a whole refresh, and waited for before the next', async () => {
    const scene = new Scene({ SNAPSHOT_READ_TIMEOUT_MS: 30 });
    const error = await refusalOf(() => scene.snapshots.get(PLAIN));
    expect([error.code, error.detail]).toEqual(['bank-timeout', expect.stringContaining('SNAPSHOT_READ_TIMEOUT_MS')]);
    expect(scene.asked[0]?.signal.aborted).toBe(true);
    expect(scene.snapshots.status()).toMatchObject({ failing: true, circuit: 'open' });
  });
});

describe('a bank that fails', () => {
  it.each(PROBLEM_CODES.filter((code) => !['access-not-granted', 'stopping'].includes(code)))(
    'with %s has the older copy served',
    async (code) => {
      const scene = new Scene();
      await scene.begin();
      scene.clock.advance(FRESH_MS + 1);
      const getting = scene.snapshots.get(PLAIN);
      scene.fail(code);
      expect(await getting).toMatchObject({
        stale: true,
        cache: 'stale',
        failure: code === 'overloaded' ? null : code,
      });
    },
  );

  it('has the fresh copy served, unmarked', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(2000);
    const asking = refusalOf(() => scene.snapshots.get(NO_CACHE));
    scene.fail();
    await asking;
    expect(await scene.snapshots.get(PLAIN)).toMatchObject({ stale: false, cache: 'hit' });
  });

  it('during the back-off: the cached copy at once, or the error at once, and nobody asks', async () => {
    const scene = new Scene({ SNAPSHOT_SOFT_TIMEOUT_MS: 5000, REQUEST_DEADLINE_MS: 5000 });
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    await scene.beginFailing();
    const started = performance.now();
    expect((await scene.snapshots.get(PLAIN)).stale).toBe(true);
    expect((await refusalOf(() => scene.snapshots.get(NO_CACHE))).code).toBe('bank-unreachable');
    expect(performance.now() - started).toBeLessThan(1000);
    expect(scene.asked).toHaveLength(2);
  });

  it('the error shows what is left of the back-off', async () => {
    const scene = new Scene();
    await scene.beginFailing('bank-rate-limited', { retryAfterMs: 17_000 });
    scene.clock.advance(7000);
    const error = await refusalOf(() => scene.snapshots.get(PLAIN));
    expect([error.code, error.retryAfterMs]).toEqual(['bank-rate-limited', 10_000]);
  });

  it('is probed by one refresh when the back-off is over', async () => {
    const scene = new Scene();
    await scene.beginFailing('bank-rate-limited', { retryAfterMs: 17_000 });
    scene.clock.advance(17_000);
    const all = Array.from({ length: 10 }, () => scene.snapshots.get(PLAIN));
    expect(scene.asked).toHaveLength(2);
    scene.answer();
    await Promise.all(all);
    expect(scene.snapshots.status()).toMatchObject({ failing: false, circuit: 'closed' });
  });

  it('is asked at once when an operator ends the back-off', async () => {
    const scene = new Scene();
    await scene.beginFailing();
    scene.snapshots.reload();
    await scene.begin();
    expect(scene.asked).toHaveLength(2);
  });

  it('past the maximum age of the copy, the error is given', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(STALE_MS + 1);
    const getting = refusalOf(() => scene.snapshots.get(PLAIN));
    scene.fail('bank-response-invalid');
    expect((await getting).code).toBe('bank-response-invalid');
    expect((await refusalOf(() => scene.snapshots.get(PLAIN))).code).toBe('bank-response-invalid');
  });
});

describe('a new identity', () => {
  it('ends the back-off: what was refused to the old one may be granted', async () => {
    const scene = new Scene();
    await scene.beginFailing('access-not-granted');
    expect((await refusalOf(() => scene.snapshots.get(PLAIN))).code).toBe('access-not-granted');
    expect(scene.asked).toHaveLength(1);
    scene.condition.identityReplaced();
    await scene.begin();
    expect(scene.asked).toHaveLength(2);
  });

  it('that fails has its own back-off', async () => {
    const scene = new Scene();
    scene.condition.identityReplaced();
    await scene.beginFailing();
    await refusalOf(() => scene.snapshots.get(PLAIN));
    expect(scene.asked).toHaveLength(1);
  });
});

describe('an access that is no longer granted', () => {
  it('drops the cached snapshot: the error is given', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const getting = refusalOf(() => scene.snapshots.get(PLAIN));
    scene.fail('access-not-granted');
    expect((await getting).code).toBe('access-not-granted');
    expect((await refusalOf(() => scene.snapshots.get(PLAIN))).code).toBe('access-not-granted');
    expect((await refusalOf(() => scene.snapshots.get(ONLY_IF_CACHED))).code).toBe('not-cached');
    expect(scene.snapshots.status()).toMatchObject({ asOf: null, accounts: null, servable: false });
  });

  it('drops even what is fresh', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(2000);
    const asking = refusalOf(() => scene.snapshots.get(NO_CACHE));
    scene.fail('access-not-granted');
    await asking;
    expect((await refusalOf(() => scene.snapshots.get(PLAIN))).code).toBe('access-not-granted');
  });
});

describe('the maximum age', () => {
  it('ends a copy while the bank fails, which is logged once', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(STALE_MS);
    await scene.beginFailing('bank-rate-limited', { retryAfterMs: 60_000 });
    expect(scene.snapshots.status()).toMatchObject({ servable: true, expired: false, stale: true });
    scene.clock.advance(1);
    expect((await refusalOf(() => scene.snapshots.get(PLAIN))).code).toBe('bank-rate-limited');
    await refusalOf(() => scene.snapshots.get(PLAIN));
    expect(scene.snapshots.status()).toMatchObject({ servable: false, expired: true, stale: false });
    expect(scene.log.lines('snapshot.failed').filter(({ expiresAt }) => expiresAt)).toEqual([
      expect.objectContaining({
        level: 'warn',
        code: 'bank-rate-limited',
        expiresAt: '2026-11-21T08:05:00.000Z',
        msg: expect.stringContaining('past its maximum age'),
      }),
    ]);
  });

  it('is not logged while nothing fails', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(STALE_MS + 1);
    scene.snapshots.probe();
    await scene.begin();
    expect(scene.log.lines('snapshot.failed')).toEqual([]);
  });
});

describe('a list that became empty', () => {
  it('is reported until accounts are listed again, and logged once', async () => {
    const scene = new Scene();
    const seen: boolean[] = [];
    for (const count of [0, 3, 0, 0, 1]) {
      await scene.begin(count);
      seen.push(scene.snapshots.status().emptied);
      scene.clock.advance(FRESH_MS + 1);
    }
    expect(seen).toEqual([false, false, true, true, false]);
    expect(scene.log.lines('snapshot.emptied')).toMatchObject([
      { level: 'warn', accounts: 0, code: 'accounts-emptied', owner: 'bank' },
    ]);
  });

  it('is accepted by a reload', async () => {
    const scene = new Scene();
    await scene.begin(3);
    scene.clock.advance(FRESH_MS + 1);
    await scene.begin(0);
    expect(scene.snapshots.status().emptied).toBe(true);
    scene.snapshots.reload();
    expect(scene.snapshots.status().emptied).toBe(false);
  });
});

describe('a lack of a token', () => {
  it('is not a failed refresh: the next caller may ask at once', async () => {
    const scene = new Scene();
    const getting = refusalOf(() => scene.snapshots.get(PLAIN));
    scene.asked[0]?.reject(new NoToken('credentials-rejected', 'no', { retryAfterMs: 30_000 }));
    expect(await getting).toMatchObject({ code: 'credentials-rejected', retryAfterMs: 30_000 });
    expect(scene.snapshots.status()).toMatchObject({ failing: false, circuit: 'closed' });
    await scene.begin();
    expect(scene.asked).toHaveLength(2);
  });

  it('has the older copy served, marked', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const getting = scene.snapshots.get(PLAIN);
    scene.asked[1]?.reject(new NoToken('certificate-unusable', 'expired'));
    expect((await getting).stale).toBe(true);
  });
});

describe('no-cache', () => {
  it('asks the bank although the copy is fresh', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(1001);
    const getting = scene.snapshots.get(NO_CACHE);
    scene.answer(9);
    const served = await getting;
    expect([served.snapshot.size, served.cache, served.stale]).toEqual([9, 'request', false]);
  });

  it('gets the error when the bank fails, not a stale copy', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const getting = refusalOf(() => scene.snapshots.get(NO_CACHE));
    scene.fail();
    expect((await getting).code).toBe('bank-unreachable');
  });
});

describe('a caller who bounds the age', () => {
  it.each([NO_CACHE, maxAge(60)])('waits past the soft timeout and never gets a stale copy: %j', async (wanted) => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    expect((await refusalOf(() => scene.snapshots.get(wanted))).code).toBe('bank-timeout');
  });
});

describe('max-age during a refresh', () => {
  it('waits for the one after it when that began too long ago', async () => {
    const scene = new Scene();
    const first = scene.snapshots.get(PLAIN);
    scene.clock.advance(5000);
    const refreshIds: string[] = [];
    const getting = scene.snapshots.get(maxAge(2), { onRefresh: (id) => refreshIds.push(id) });
    const another = scene.snapshots.get(maxAge(2));
    scene.clock.advance(1000);
    scene.answer(3);
    expect((await first).ageMs).toBe(6000);
    await delay(1);
    expect(scene.asked).toHaveLength(2);
    scene.answer(4);
    const served = await getting;
    expect([served.snapshot.size, served.ageMs, served.refreshId]).toEqual([4, 0, scene.asked[1]?.refreshId]);
    expect(refreshIds).toEqual([scene.asked[1]?.refreshId]);
    expect((await another).snapshot).toBe(served.snapshot);
    expect(scene.asked).toHaveLength(2);
  });

  it('joins it when it began late enough', async () => {
    const scene = new Scene();
    const first = scene.snapshots.get(PLAIN);
    scene.clock.advance(2000);
    const getting = scene.snapshots.get(maxAge(2));
    scene.answer(3);
    expect((await getting).snapshot).toBe((await first).snapshot);
    expect(scene.asked).toHaveLength(1);
  });

  it('gets the back-off of the one that failed, without asking again', async () => {
    const scene = new Scene();
    const first = refusalOf(() => scene.snapshots.get(PLAIN));
    scene.clock.advance(5000);
    const getting = refusalOf(() => scene.snapshots.get(maxAge(2)));
    scene.fail();
    expect((await first).code).toBe('bank-unreachable');
    expect((await getting).code).toBe('bank-unreachable');
    expect(scene.asked).toHaveLength(1);
  });
});

describe('only-if-cached', () => {
  it('gets the cached snapshot and never asks the bank', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS);
    expect(await scene.snapshots.get(ONLY_IF_CACHED)).toMatchObject({ cache: 'hit', stale: false });
    expect(scene.asked).toHaveLength(1);
  });

  it.each([
    ['it is past its maximum age', ONLY_IF_CACHED, STALE_MS + 1],
    ['it is older than max-age', { ...ONLY_IF_CACHED, maxAge: 5 }, 5001],
  ])('shows that %s', async (_name, freshness, ageMs) => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(ageMs);
    const error = await refusalOf(() => scene.snapshots.get(freshness));
    expect([error.code, error.status]).toEqual(['not-cached', 504]);
    expect(scene.asked).toHaveLength(1);
  });

  it('gets not-cached when nothing is cached', async () => {
    const scene = new Scene();
    expect((await refusalOf(() => scene.snapshots.get(ONLY_IF_CACHED))).code).toBe('not-cached');
    expect(scene.asked).toHaveLength(0);
  });
});

describe('too many callers', () => {
  it('beyond the limit get an error, and those who wait are served', async () => {
    const scene = new Scene({ MAX_REQUESTS_WAITING: 2 });
    const waiting = [scene.snapshots.get(PLAIN), scene.snapshots.get(PLAIN)];
    const error = await refusalOf(() => scene.snapshots.get(PLAIN));
    expect([error.code, error.status, error.owner]).toEqual(['overloaded', 503, 'operator']);
    scene.answer();
    expect(await Promise.all(waiting)).toHaveLength(2);
  });

  it('get the older copy, marked, where there is one', async () => {
    const scene = new Scene({ MAX_REQUESTS_WAITING: 1 });
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const waiting = scene.snapshots.get(PLAIN);
    expect((await scene.snapshots.get(PLAIN)).stale).toBe(true);
    scene.answer();
    expect((await waiting).stale).toBe(false);
  });

  it('that left are no longer counted', async () => {
    const scene = new Scene({ MAX_REQUESTS_WAITING: 1, REQUEST_DEADLINE_MS: 10 });
    await refusalOf(() => scene.snapshots.get(PLAIN));
    expect((await refusalOf(() => scene.snapshots.get(PLAIN))).code).toBe('bank-timeout');
  });
});

describe('the probe of health', () => {
  it('asks when nothing was ever read, and once for all who ask', async () => {
    const scene = new Scene();
    const probes = [scene.snapshots.probe(), scene.snapshots.probe()];
    scene.answer();
    await Promise.all(probes);
    expect(scene.asked).toHaveLength(1);
  });

  it('asks nothing while a snapshot is cached, or during the back-off', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(STALE_MS + 1);
    expect(scene.snapshots.probe()).toBeNull();
    const other = new Scene();
    await other.beginFailing();
    expect(other.snapshots.probe()).toBeNull();
    expect([scene.asked.length, other.asked.length]).toEqual([1, 1]);
  });

  it('asks once when the back-off is over', async () => {
    const scene = new Scene();
    await scene.beginFailing('bank-rate-limited', { retryAfterMs: 1000 });
    scene.clock.advance(1000);
    const probes = [scene.snapshots.probe(), scene.snapshots.probe()];
    expect(scene.asked).toHaveLength(2);
    scene.answer();
    await Promise.all(probes);
    expect(scene.snapshots.status().failing).toBe(false);
  });
});

describe('the stop', () => {
  it('ends the refresh in flight, and is no failure of the bank', async () => {
    const scene = new Scene();
    const getting = refusalOf(() => scene.snapshots.get(PLAIN));
    scene.snapshots.onApplicationShutdown();
    expect((await getting).code).toBe('stopping');
    expect(scene.asked[0]?.signal.aborted).toBe(true);
    expect(scene.snapshots.status().failing).toBe(false);
  });
});

describe('the state that health shows', () => {
  it('reports the cached snapshot', async () => {
    const scene = new Scene();
    expect(scene.snapshots.status()).toMatchObject({ asOf: null, ageMs: null, accounts: null, servable: false });
    await scene.begin(3);
    scene.clock.advance(2000);
    expect(scene.snapshots.status()).toMatchObject({
      asOf: '2026-11-21T08:00:00.000Z',
      ageMs: 2000,
      accounts: 3,
      servable: true,
      stale: false,
    });
    scene.clock.advance(STALE_MS);
    expect(scene.snapshots.status().servable).toBe(false);
  });

  it('is stale once an older copy was served, until a refresh succeeds', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    const getting = scene.snapshots.get(PLAIN);
    scene.fail('bank-rate-limited', { retryAfterMs: 1000 });
    await getting;
    expect(scene.snapshots.status().stale).toBe(true);
    scene.clock.advance(1000);
    await scene.begin();
    expect(scene.snapshots.status().stale).toBe(false);
  });

  it('is not stale because somebody asked for the cached copy', async () => {
    const scene = new Scene();
    await scene.begin();
    scene.clock.advance(FRESH_MS + 1);
    await scene.snapshots.get(ONLY_IF_CACHED);
    expect(scene.snapshots.status().stale).toBe(false);
  });
});

describe('the log', () => {
  it('logs each refresh with its id', async () => {
    const scene = new Scene();
    await scene.begin(3, 1500);
    expect(scene.log.lines('snapshot.refreshed')).toEqual([
      expect.objectContaining({
        level: 'info',
        refreshId: scene.asked[0]?.refreshId,
        accounts: 3,
        pages: 1,
        complete: true,
        ms: 1500,
      }),
    ]);
  });

  it.each([
    [false, 1],
    [true, 0],
    [null, 0],
  ])('with complete %p has %i warnings of it', async (complete, warnings) => {
    const scene = new Scene();
    const getting = scene.snapshots.get(PLAIN);
    scene.answer(3, complete);
    expect((await getting).snapshot.complete).toBe(complete);
    expect(scene.log.lines('snapshot.incomplete')).toHaveLength(warnings);
  });

  it('logs a failure with its code and the time of the next attempt', async () => {
    const scene = new Scene();
    await scene.beginFailing('bank-rate-limited', { retryAfterMs: 17_000 });
    expect(scene.log.lines('snapshot.failed')).toEqual([
      expect.objectContaining({ code: 'bank-rate-limited', owner: 'bank', retryInMs: 17_000 }),
    ]);
    expect(scene.log.lines('bank.unavailable')).toHaveLength(1);
  });

  it('reports an internal error once, with its place', async () => {
    const scene = new Scene();
    const getting = refusalOf(() => scene.snapshots.get(PLAIN));
    scene.asked[0]?.reject(new TypeError('boom'));
    expect((await getting).code).toBe('internal-error');
    expect(scene.log.lines('snapshot.failed')).toMatchObject([
      { level: 'error', code: 'internal-error', owner: 'operator', err: { name: 'GatewayError' } },
    ]);
  });
});

describe('a copy from before the start', () => {
  async function restored() {
    const earlier = new Scene();
    await earlier.begin(2);
    const { snapshot } = await earlier.snapshots.get(PLAIN);
    const scene = new Scene();
    scene.snapshots.restore(snapshot);
    return scene;
  }

  it('is served at once, marked stale, during the first refresh, however young it is', async () => {
    const scene = await restored();
    expect(await scene.snapshots.get(PLAIN)).toMatchObject({ stale: true, cache: 'stale', failure: null });
    expect(await scene.snapshots.get(PLAIN)).toMatchObject({ stale: true });
    expect(scene.snapshots.status()).toMatchObject({ servable: true, stale: true, accounts: 2 });
    expect(scene.asked).toHaveLength(1);
    scene.answer(5);
    await Promise.resolve(scene.asked[0]?.promise);
    const served = await scene.snapshots.get(PLAIN);
    expect(served.stale).toBe(false);
    expect(served.snapshot.size).toBe(5);
  });

  it('is not for those who want the bank asked, nor past its maximum age, nor in the place of a newer one', async () => {
    const scene = await restored();
    const insisting = scene.snapshots.get({ ...PLAIN, noCache: true });
    scene.answer(5);
    expect((await insisting).snapshot.size).toBe(5);
    const old = await restored();
    old.clock.advance(STALE_MS + 1);
    const waiting = old.snapshots.get(PLAIN);
    old.answer(5);
    expect(await waiting).toMatchObject({ stale: false });
    scene.snapshots.restore((await waiting).snapshot);
    expect(scene.snapshots.status().stale).toBe(false);
  });
});

describe('a snapshot of another instance', () => {
  it('that is older than the cached one does not replace it', async () => {
    const scene = new Scene();
    await scene.begin(3);
    const { snapshot: cached } = await scene.snapshots.get(PLAIN);
    scene.clock.advance(1500);
    const getting = scene.snapshots.get(NO_CACHE);
    const { wall, monotonic } = cached.askedAt;
    const askedAt = { wall: wall - 1, monotonic: monotonic - 1 };
    scene.asked[1]?.resolve({
      snapshot: new Snapshot(cached.buffer, { askedAt, durationMs: 50 }),
      pages: 0,
      source: 'shared',
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect((await scene.snapshots.get(ONLY_IF_CACHED)).snapshot).toBe(cached);
    // it was not new enough for this caller, who has the bank asked
    expect(scene.asked).toHaveLength(3);
    scene.answer(5);
    expect((await getting).snapshot.size).toBe(5);
  });

  it('that is fresh does for plain callers, but not for one who joined them and wants the bank asked now', async () => {
    const scene = new Scene();
    const plain = scene.snapshots.get(PLAIN);
    const now = scene.snapshots.get({ ...PLAIN, noCache: true });
    const { wall, monotonic } = scene.clock.now();
    const others = new Scene();
    await others.begin(4);
    const { buffer } = (await others.snapshots.get(PLAIN)).snapshot;
    const askedAt = { wall: wall - 9000, monotonic: monotonic - 9000 };
    scene.asked[0]?.resolve({
      snapshot: new Snapshot(buffer, { askedAt, durationMs: 50 }),
      pages: 0,
      source: 'shared',
    });
    expect(await plain).toMatchObject({ ageMs: 9000, stale: false });
    await new Promise((resolve) => setImmediate(resolve));
    expect(scene.asked).toHaveLength(2);
    scene.answer(5);
    expect((await now).snapshot.size).toBe(5);
    expect(scene.log.lines('snapshot.refreshed').map(({ source }) => source)).toEqual(['shared', 'bank']);
  });
});
