import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { until } from '../../test/support/until.js';
import { NoToken } from '../auth/authorized-call.js';
import { GatewayError, type GatewayErrorOptions } from '../errors/gateway-error.js';
import { PROBLEM_CODES, type ProblemCode } from '../errors/problem-table.js';
import { later, type Instant } from '../time/clock.js';
import { ANY, NOW as NO_CACHE, type Freshness } from './freshness.js';
import { account, snapshotOf, type LocalList } from '../../test/support/sample-snapshots.js';
import { createSnapshotService } from '../../test/support/snapshot-service.js';
import { toAgeMs } from './cached-snapshot.js';
import type { ServedSnapshot, SnapshotService } from './snapshot-service.js';
import type { RefreshRequest, Snapshot, SnapshotSource } from '../snapshot/snapshot-source.js';

const FRESH_MS = 10_000;
const MAX_AGE_MS = 300_000;
const SETTINGS = { SNAPSHOT_SOFT_TIMEOUT_MS: 30, REQUEST_DEADLINE_MS: 80 };
type Settings = Parameters<typeof createSnapshotService>[0]['settings'];

const maxAge = (seconds: number, staleSeconds = 0): Freshness => ({
  noCache: false,
  maxAgeMs: seconds * 1000,
  maxStaleAgeMs: (seconds + staleSeconds) * 1000,
});

const listOf = (count: number) => Array.from({ length: count }, (_, index) => account({ id: `a-${index}` }));

type PendingRefresh = PromiseWithResolvers<Snapshot> & {
  readonly refreshId: string;
  readonly signal: AbortSignal;
  readonly accepts: RefreshRequest['accepts'];
  readonly askedAt: Instant;
};

/** A cache whose refreshes end when and how the test decides. The clock does not move unless a test moves it. */
class Scene {
  readonly clock = new FakeClock(Date.UTC(2026, 10, 21, 8));
  readonly log = keepLines();
  readonly asked: PendingRefresh[] = [];
  /** The back-off of the token. */
  tokenFailure: GatewayError | null = null;
  readonly parts: ReturnType<typeof createSnapshotService>;
  readonly snapshots: SnapshotService;

  constructor(settings: Settings, take?: SnapshotSource['take']) {
    const { clock, log } = this;
    const read = ({ refreshId, signal, accepts }: RefreshRequest) => {
      const refresh = { ...Promise.withResolvers<Snapshot>(), refreshId, signal, accepts, askedAt: clock.now() };
      signal.addEventListener('abort', () => refresh.reject(signal.reason));
      this.asked.push(refresh);
      return refresh.promise;
    };
    this.parts = createSnapshotService({
      read,
      ...(take && { take }),
      clock,
      log,
      tokens: { failureNow: () => this.tokenFailure },
      settings: { ...SETTINGS, ...settings },
    });
    this.snapshots = this.parts.snapshots;
  }

  /** Another identity takes over. */
  replaceIdentity(): void {
    const { identities } = this.parts;
    identities.current = { ...identities.current };
  }

  /** An empty snapshot as of now. */
  readonly take = () => snapshotOf([], true, this.clock.now());

  get refreshIds() {
    return this.asked.map(({ refreshId }) => refreshId);
  }

  answer(count = 3, complete: boolean | null = true): void {
    const { askedAt, resolve } = this.asked.at(-1) as PendingRefresh;
    resolve(snapshotOf(listOf(count), complete, askedAt, this.clock.since(askedAt)));
  }

  /** Another instance's copy, `ageMs` old. */
  shared(count: number, ageMs: number, source: 'file' | 'shared' = 'shared'): Snapshot {
    const askedAt = later(this.clock.now(), -ageMs);
    return snapshotOf(listOf(count), true, askedAt, 0, source);
  }

  /** Completes a refresh with another instance's copy, `ageMs` old. */
  answerShared(count: number, ageMs: number): void {
    this.asked.at(-1)?.resolve(this.shared(count, ageMs));
  }

  fail(code: ProblemCode = 'bank-unreachable', options?: GatewayErrorOptions): void {
    this.asked.at(-1)?.reject(new GatewayError(code, 'as scripted', options));
  }

  /** Runs a refresh of `count` accounts that takes `tookMs`, then moves the clock by `ageMs`. */
  async begin({ count = 3, tookMs = 0, ageMs = 0, complete = true as boolean | null } = {}): Promise<this> {
    const getting = this.snapshots.get(ANY);
    this.clock.advance(tookMs);
    this.answer(count, complete);
    await getting;
    this.clock.advance(ageMs);
    return this;
  }

  /** Runs a refresh that fails. */
  async beginFailing(code?: ProblemCode, options?: GatewayErrorOptions): Promise<this> {
    const getting = Promise.resolve(this.snapshots.get(ANY)).catch(() => undefined);
    this.fail(code, options);
    await getting;
    return this;
  }
}

const scene = (settings: Settings = {}) => new Scene(settings);

/** The caller's result, with the age of its snapshot; an error unchanged. */
const aged = ({ clock }: Scene, got: unknown) =>
  got instanceof Error ? got : { ...(got as ServedSnapshot), ageMs: toAgeMs(clock, (got as ServedSnapshot).snapshot) };

describe('one caller', () => {
  const HIT = { cache: 'hit', stale: false, failure: null };
  const REFRESHED = { stale: false, failure: null, ageMs: 0, snapshot: { size: 4 } };
  const STALE = { cache: 'refreshed', stale: true, snapshot: { size: 3 } };
  const timeout = { code: 'bank-timeout', status: 504 };
  const unreachable = { code: 'bank-unreachable', status: 503 };

  it.each<[ageMs: number | null, Freshness, bank: 'unasked' | 'answers' | 'hangs' | ProblemCode, expected: object]>([
    [null, ANY, 'answers', { ...REFRESHED, cache: 'miss' }],
    [null, ANY, 'hangs', timeout],
    [null, ANY, 'bank-unreachable', unreachable],
    [0, NO_CACHE, 'unasked', HIT],
    [1001, NO_CACHE, 'answers', { ...REFRESHED, cache: 'request' }],
    [2000, NO_CACHE, 'bank-unreachable', unreachable],
    [FRESH_MS, ANY, 'unasked', { ...HIT, ageMs: FRESH_MS, snapshot: { size: 3 } }],
    [5000, maxAge(5), 'unasked', HIT],
    [5001, maxAge(5), 'answers', { ...REFRESHED, cache: 'request' }],
    [5001, maxAge(5), 'hangs', timeout],
    [5001, maxAge(5), 'bank-unreachable', unreachable],
    [5001, maxAge(5, 1), 'hangs', { ...STALE, cache: 'request', failure: null }],
    [5001, maxAge(5, 1), 'bank-unreachable', { ...STALE, cache: 'request', failure: 'bank-unreachable' }],
    [FRESH_MS + 1, ANY, 'answers', { ...REFRESHED, cache: 'refreshed' }],
    [FRESH_MS + 1, ANY, 'hangs', { ...STALE, ageMs: FRESH_MS + 1, failure: null }],
    [FRESH_MS + 1, NO_CACHE, 'hangs', timeout],
    [FRESH_MS + 1, maxAge(60), 'hangs', { ...STALE, failure: null }],
    [FRESH_MS + 1, maxAge(60), 'bank-unreachable', { ...STALE, failure: 'bank-unreachable' }],
    [60_001, maxAge(60), 'bank-unreachable', unreachable],
    [MAX_AGE_MS + 1, maxAge(259_200), 'bank-unreachable', unreachable],
    [FRESH_MS + 1, NO_CACHE, 'bank-unreachable', unreachable],
    [FRESH_MS + 1, ANY, 'access-not-granted', { code: 'access-not-granted' }],
    [MAX_AGE_MS, ANY, 'bank-unreachable', { ...STALE, failure: 'bank-unreachable' }],
    [MAX_AGE_MS + 1, ANY, 'hangs', timeout],
    [MAX_AGE_MS + 1, ANY, 'bank-response-invalid', { code: 'bank-response-invalid' }],
    ...PROBLEM_CODES.filter((code) => !['access-not-granted', 'stopping'].includes(code)).map(
      (code) => [FRESH_MS + 1, ANY, code, { ...STALE, failure: code }] as const,
    ),
  ] as [number | null, Freshness, 'unasked' | 'answers' | 'hangs' | ProblemCode, object][])(
    'with a copy %p ms old and the request %j (bank: %s) gets %j',
    async (ageMs, wanted, bank, expected) => {
      const here = scene();
      if (ageMs !== null) await here.begin({ ageMs });
      const before = here.asked.length;
      const logFields = { span: undefined, refreshId: 'none' };
      const getting = Promise.resolve(here.snapshots.get(wanted, { logFields })).catch((error: unknown) => error);
      if (bank === 'answers') here.answer(4);
      else if (bank !== 'hangs' && bank !== 'unasked') here.fail(bank);
      const got = await getting;
      expect(aged(here, got)).toMatchObject(expected);
      expect(here.asked.length - before).toBe(bank === 'unasked' ? 0 : 1);
      expect(logFields.refreshId).toBe(bank === 'unasked' ? 'none' : here.refreshIds.at(-1));
      // a caller who leaves does not cancel the refresh
      expect(here.asked.at(-1)?.signal.aborted ?? false).toBe(false);
    },
  );

  it('gets an age measured from before the call to the bank', async () => {
    const here = await scene().begin({ tookMs: 4000 });
    const { snapshot } = await here.snapshots.get(ANY);
    expect([toAgeMs(here.clock, snapshot), snapshot.durationMs, snapshot.asOf]).toEqual([
      4000,
      4000,
      '2026-11-21T08:00:00.000Z',
    ]);
  });

  it('waits until the soft timeout or the deadline, not longer', async () => {
    const here = scene();
    const began = performance.now();
    await rejectionOf(() => here.snapshots.get(ANY));
    expect(performance.now() - began).toBeGreaterThanOrEqual(SETTINGS.REQUEST_DEADLINE_MS - 2);
    here.answer();
    await turn();
    here.clock.advance(FRESH_MS + 1);
    const beganAgain = performance.now();
    expect((await here.snapshots.get(ANY)).stale).toBe(true);
    expect(performance.now() - beganAgain).toBeGreaterThanOrEqual(SETTINGS.SNAPSHOT_SOFT_TIMEOUT_MS - 2);
    // the refresh continues
    here.answer(5);
    await turn();
    expect((await here.snapshots.get(ANY)).snapshot.size).toBe(5);
    expect(here.asked).toHaveLength(2);
  });

  it('gets the new snapshot, not a copy that passed its maximum age during the wait', async () => {
    const here = await scene({ REQUEST_DEADLINE_MS: 30_000 }).begin({ ageMs: MAX_AGE_MS });
    const getting = here.snapshots.get(ANY);
    here.clock.advance(1);
    await delay(SETTINGS.SNAPSHOT_SOFT_TIMEOUT_MS + 20);
    here.answer(7);
    expect(await getting).toMatchObject({ stale: false, snapshot: { size: 7 } });
  });
});

describe('one refresh in flight', () => {
  it('on a cold start, gives all waiting callers the same result', async () => {
    const here = scene();
    const ask = () => Array.from({ length: 50 }, () => here.snapshots.get(ANY));
    const failing = ask().map((getting) => rejectionOf(() => getting));
    here.fail('bank-response-invalid');
    expect(new Set((await Promise.all(failing)).map(({ code }) => code))).toEqual(new Set(['bank-response-invalid']));
    here.parts.refresher.resetBackOff();
    const all = ask();
    here.answer();
    const served = await Promise.all(all);
    expect(new Set(served.map(({ snapshot }) => snapshot)).size).toBe(1);
    expect(new Set(here.refreshIds).size).toBe(2);
  });

  it('also serves callers with no-cache', async () => {
    const here = await scene().begin({ ageMs: 1001 });
    const all = Array.from({ length: 5 }, () => here.snapshots.get(NO_CACHE));
    here.answer();
    await Promise.all(all);
    expect(here.asked).toHaveLength(2);
  });

  it('is followed by another one if it began too long ago for max-age', async () => {
    const here = scene();
    const first = here.snapshots.get(ANY);
    here.clock.advance(2000);
    const joins = here.snapshots.get(maxAge(2));
    here.clock.advance(3000);
    const getting = [here.snapshots.get(maxAge(2)), here.snapshots.get(maxAge(2))];
    here.clock.advance(1000);
    here.answer(3);
    expect(toAgeMs(here.clock, (await first).snapshot)).toBe(6000);
    expect((await joins).snapshot).toBe((await first).snapshot);
    await turn();
    here.answer(4);
    for (const served of await Promise.all(getting))
      expect(aged(here, served)).toMatchObject({ snapshot: { size: 4 }, ageMs: 0 });
    expect(here.asked).toHaveLength(2);
  });

  it('also fails the callers queued behind it, without another call', async () => {
    const here = scene();
    const first = rejectionOf(() => here.snapshots.get(ANY));
    here.clock.advance(5000);
    const getting = rejectionOf(() => here.snapshots.get(maxAge(2)));
    here.fail();
    expect([(await first).code, (await getting).code]).toEqual(['bank-unreachable', 'bank-unreachable']);
    expect(here.asked).toHaveLength(1);
  });

  it('ends when the process stops, which does not count as a failure of the bank', async () => {
    const here = scene();
    const getting = rejectionOf(() => here.snapshots.get(ANY));
    here.parts.refresher.onApplicationShutdown();
    expect((await getting).code).toBe('stopping');
    expect(here.asked[0]?.signal.aborted).toBe(true);
    expect(here.snapshots.status().trouble).toBeNull();
  });
});

describe('the back-off', () => {
  it('returns the cached copy or the error at once, without a call to the bank', async () => {
    const here = await scene({ SNAPSHOT_SOFT_TIMEOUT_MS: 60_000, REQUEST_DEADLINE_MS: 60_000 }).begin({ ageMs: 2000 });
    const asking = rejectionOf(() => here.snapshots.get(NO_CACHE));
    here.fail('bank-rate-limited', { retryAfterMs: 17_000 });
    await asking;
    // fresh, not marked stale
    expect(await here.snapshots.get(ANY)).toMatchObject({ stale: false, cache: 'hit' });
    here.clock.advance(FRESH_MS);
    expect((await here.snapshots.get(ANY)).stale).toBe(true);
    const error = await rejectionOf(() => here.snapshots.get(NO_CACHE));
    expect([error.code, error.retryAfterMs]).toEqual(['bank-rate-limited', 7000]);
    expect(here.snapshots.refreshForHealth()).toBeNull();
    expect(here.asked).toHaveLength(2);
  });

  it('ends with a single refresh for callers and health', async () => {
    const here = await scene().beginFailing('bank-rate-limited', { retryAfterMs: 17_000 });
    here.clock.advance(17_000);
    const all = [
      here.snapshots.refreshForHealth(),
      here.snapshots.refreshForHealth(),
      here.snapshots.get(ANY),
      here.snapshots.get(ANY),
    ];
    expect(here.asked).toHaveLength(2);
    here.answer();
    await Promise.all(all);
    expect(here.snapshots.status().trouble).toBeNull();
  });

  it('may end between two reads of the clock', async () => {
    for (let leftMs = 1; leftMs <= 10; leftMs += 1) {
      const here = await scene().beginFailing('bank-rate-limited', { retryAfterMs: 17_000 });
      here.clock.advance(17_000 - leftMs);
      const now = here.clock.now.bind(here.clock);
      here.clock.now = () => {
        here.clock.advance(1);
        return now();
      };
      while (here.asked.length === 1) {
        expect(await rejectionOf(() => here.snapshots.get(ANY))).toBeInstanceOf(GatewayError);
      }
    }
  });

  it.each<[string, (here: Scene) => void]>([
    ['an operator', ({ parts }) => parts.refresher.resetBackOff()],
    ['a new identity, to which more may be granted', (here) => here.replaceIdentity()],
  ])('ends through %s', async (_who, end) => {
    const here = await scene().beginFailing('access-not-granted');
    expect((await rejectionOf(() => here.snapshots.get(ANY))).code).toBe('access-not-granted');
    expect(here.asked).toHaveLength(1);
    end(here);
    await here.begin();
    expect(here.asked).toHaveLength(2);
  });

  it('applies to a new identity once it has failed', async () => {
    const here = scene();
    here.replaceIdentity();
    await here.beginFailing();
    await rejectionOf(() => here.snapshots.get(ANY));
    expect(here.asked).toHaveLength(1);
  });

  it('does not apply to a new identity when a refresh of the old one fails late', async () => {
    const here = scene();
    const getting = rejectionOf(() => here.snapshots.get(ANY));
    here.replaceIdentity();
    here.fail('bank-refused');
    await getting;
    await here.begin();
    expect(here.asked).toHaveLength(2);
  });

  it('does not start after a missing token: the next caller may try at once', async () => {
    const here = scene();
    const getting = rejectionOf(() => here.snapshots.get(ANY));
    here.asked[0]?.reject(new NoToken('credentials-rejected', 'no', { retryAfterMs: 30_000 }));
    expect(await getting).toMatchObject({ code: 'credentials-rejected', retryAfterMs: 30_000 });
    expect(here.snapshots.status().trouble).toBeNull();
    await here.begin({ ageMs: FRESH_MS + 1 });
    const next = here.snapshots.get(ANY);
    here.asked[2]?.reject(new NoToken('certificate-unusable', 'expired'));
    expect((await next).stale).toBe(true);
  });
});

it('access-not-granted starts the back-off, and drops even a fresh copy', async () => {
  const here = await scene().begin({ ageMs: 2000 });
  const asking = rejectionOf(() => here.snapshots.get(NO_CACHE));
  here.fail('access-not-granted');
  await asking;
  expect((await rejectionOf(() => here.snapshots.get(ANY))).code).toBe('access-not-granted');
  expect(here.snapshots.status()).toMatchObject({ asOf: null, accounts: null, servable: false });
});

describe('too many callers', () => {
  it('get an error, or the older copy marked stale; callers who are already waiting are served', async () => {
    const here = scene({ MAX_REQUESTS_WAITING: 2 });
    const waiting = [here.snapshots.get(ANY), here.snapshots.get(ANY)];
    const error = await rejectionOf(() => here.snapshots.get(ANY));
    expect([error.code, error.status, error.owner]).toEqual(['overloaded', 503, 'operator']);
    here.answer();
    expect(await Promise.all(waiting)).toHaveLength(2);
    here.clock.advance(FRESH_MS + 1);
    const again = [here.snapshots.get(ANY), here.snapshots.get(ANY)];
    expect((await here.snapshots.get(ANY)).stale).toBe(true);
    here.answer();
    expect((await Promise.all(again)).map(({ stale }) => stale)).toEqual([false, false]);
  });

  it('do not include callers who have left', async () => {
    const here = scene({ MAX_REQUESTS_WAITING: 1, REQUEST_DEADLINE_MS: 10 });
    await rejectionOf(() => here.snapshots.get(ANY));
    expect((await rejectionOf(() => here.snapshots.get(ANY))).code).toBe('bank-timeout');
  });

  it('cause no call to the bank if they left before', async () => {
    const here = scene();
    const left = AbortSignal.abort(new Error('left'));
    await expect(here.snapshots.get(ANY, { callerLeft: left })).rejects.toThrow('left');
    expect(here.asked).toHaveLength(0);
  });

  it('release the memory of callers who have left while the refresh continues', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const here = scene({ REQUEST_DEADLINE_MS: 10 });
    const leave = async () => {
      const caller = { logFields: { span: undefined } };
      await rejectionOf(() => here.snapshots.get(ANY, caller));
      return new WeakRef(caller);
    };
    const callers = [await leave(), await leave()];
    await until(() => {
      collect();
      return callers.every((each) => each.deref() === undefined);
    });
    expect(here.parts.refresher.state().running).not.toBeNull();
  });
});

describe('without a token, during its back-off', () => {
  const NO_TOKEN = new NoToken('credentials-rejected', 'as scripted', { retryAfterMs: 30_000 });

  it('a call starts no refresh: it gets the cached copy, or the error', async () => {
    const here = await scene().begin({ ageMs: FRESH_MS + 1 });
    let refreshes = 0;
    here.parts.activity.on('refreshEnded', () => (refreshes += 1));
    here.tokenFailure = NO_TOKEN;
    const stale = { cache: 'hit', stale: true, failure: 'credentials-rejected' };
    expect(await here.snapshots.get(ANY)).toMatchObject(stale);
    expect(await rejectionOf(() => here.snapshots.get(NO_CACHE))).toBe(NO_TOKEN);
    expect(here.snapshots.refreshForHealth()).toBeNull();
    expect(here.snapshots.status()).toMatchObject({ stale: true, trouble: null });
    expect([here.asked.length, refreshes]).toEqual([1, 0]);
    here.tokenFailure = null;
    expect(here.snapshots.status().stale).toBe(false);
    await here.begin();
    expect([here.asked.length, refreshes]).toEqual([2, 1]);
  });

  it("an instance of a fleet takes another instance's copy, and does not call the bank", async () => {
    const copies: Snapshot[] = [];
    const here = new Scene({}, async () => copies.shift() ?? null);
    here.tokenFailure = NO_TOKEN;
    expect(await rejectionOf(() => here.snapshots.get(ANY))).toBe(NO_TOKEN);
    copies.push(here.shared(4, 100));
    expect(await here.snapshots.get(ANY)).toMatchObject({ stale: false, snapshot: { size: 4 } });
    here.clock.advance(FRESH_MS);
    expect(here.snapshots.status().stale).toBe(false);
    expect(await here.snapshots.get(ANY)).toMatchObject({ stale: true, failure: 'credentials-rejected' });
    expect(here.snapshots.status().stale).toBe(true);
    expect(here.asked).toHaveLength(0);
  });
});

describe('the health probe', () => {
  it('refreshes once a token is available again, which ends the failure', async () => {
    const here = await scene().begin({ ageMs: FRESH_MS + 1 });
    const getting = here.snapshots.get(ANY);
    here.asked.at(-1)?.reject(new NoToken('credentials-rejected', 'as scripted'));
    expect(await getting).toMatchObject({ stale: true });
    expect(here.snapshots.status()).toMatchObject({ stale: true, trouble: null });
    const probing = here.snapshots.refreshForHealth();
    here.answer();
    await probing;
    expect(here.snapshots.status().stale).toBe(false);
    expect(here.snapshots.refreshForHealth()).toBeNull();
  });

  it('reports no failure of a replaced identity', async () => {
    const here = await scene().begin({ ageMs: FRESH_MS + 1 });
    const getting = here.snapshots.get(ANY);
    here.asked.at(-1)?.reject(new NoToken('certificate-unusable', 'as scripted'));
    await getting;
    here.replaceIdentity();
    expect(here.snapshots.status().stale).toBe(false);
    expect(here.snapshots.refreshForHealth()).toBeNull();
  });

  it('starts no refresh while a snapshot is cached, however old', async () => {
    const here = await scene().begin({ ageMs: MAX_AGE_MS + 1 });
    expect(here.snapshots.refreshForHealth()).toBeNull();
    expect(here.asked).toHaveLength(1);
    expect(here.log.lines('snapshot.failed')).toEqual([]);
  });
});

describe('the state that health shows', () => {
  it('reports the cached snapshot', async () => {
    const here = scene();
    expect(here.snapshots.status()).toMatchObject({ asOf: null, ageMs: null, accounts: null, servable: false });
    await here.begin({ ageMs: 2000 });
    const times = { asOf: '2026-11-21T08:00:00.000Z', expiresAt: '2026-11-21T08:05:00.000Z', ageMs: 2000 };
    expect(here.snapshots.status()).toMatchObject({ ...times, accounts: 3, servable: true, stale: false });
  });

  it('is stale while refreshes fail, not merely because it is old', async () => {
    const here = await scene().begin({ ageMs: FRESH_MS + 1 });
    expect(here.snapshots.status().stale).toBe(false);
    await here.beginFailing('bank-rate-limited', { retryAfterMs: 1000 });
    expect(here.snapshots.status().stale).toBe(true);
    here.clock.advance(1000);
    await here.begin();
    expect(here.snapshots.status().stale).toBe(false);
  });

  it('reports a list that became empty until it has accounts again, logged once', async () => {
    const here = scene();
    const seen: boolean[] = [];
    for (const count of [0, 3, 0, 0, 1, 0]) {
      await here.begin({ count, ageMs: FRESH_MS + 1 });
      seen.push(here.snapshots.status().emptied);
    }
    here.parts.refresher.resetBackOff();
    seen.push(here.snapshots.status().emptied);
    expect(seen).toEqual([false, false, true, true, false, true, true]);
    const line = { level: 'warn', accounts: 0, code: 'accounts-emptied', owner: 'bank' };
    expect(here.log.lines('snapshot.emptied')).toMatchObject([line, line]);
  });
});

describe('the log', () => {
  it.each([false, true, null])(
    'records each refresh with its id, and a warning only if complete is false: %p',
    async (complete) => {
      const here = await scene().begin({ tookMs: 1500, complete });
      const fields = { level: 'info', refreshId: here.refreshIds[0], accounts: 3, pages: 1, complete, ms: 1500 };
      expect(here.log.lines('snapshot.refreshed')).toMatchObject([{ ...fields, source: 'bank' }]);
      expect(here.log.lines('snapshot.incomplete')).toHaveLength(complete === false ? 1 : 0);
    },
  );

  it('records each failure with its code and the time of the next attempt', async () => {
    const here = await scene().beginFailing('bank-rate-limited', { retryAfterMs: 17_000 });
    const line = { level: 'warn', code: 'bank-rate-limited', owner: 'bank', retryInMs: 17_000 };
    expect(here.log.lines('snapshot.failed')).toMatchObject([line]);
  });

  it('records once that the thread of the cached list has died, and the next call refreshes', async () => {
    const here = await scene().begin();
    const { snapshot } = await here.snapshots.get(ANY);
    (snapshot.list as LocalList).lose(new GatewayError('internal-error', 'as scripted'));
    await turn();
    const line = { level: 'error', code: 'internal-error', owner: 'operator', refreshId: here.refreshIds[0] };
    expect(here.log.lines('snapshot.failed')).toMatchObject([line]);
    await here.begin();
    expect(here.asked).toHaveLength(2);
    expect(here.log.lines('snapshot.failed')).toHaveLength(1);
  });

  it('records an internal error once, with its stack', async () => {
    const here = scene();
    const getting = rejectionOf(() => here.snapshots.get(ANY));
    here.asked[0]?.reject(new TypeError('boom'));
    expect((await getting).code).toBe('internal-error');
    const line = { level: 'error', code: 'internal-error', owner: 'operator', err: { name: 'GatewayError' } };
    expect(here.log.lines('snapshot.failed')).toMatchObject([line]);
  });
});

describe('a stored copy', () => {
  /** A gateway that starts with a stored copy, `ageMs` old. */
  async function restored(ageMs = 0, source: 'file' | 'shared' = 'file'): Promise<Scene> {
    const taken: Snapshot[] = [];
    // with a shorter soft timeout, that timeout could also serve the copy
    const here: Scene = new Scene(
      { SNAPSHOT_SOFT_TIMEOUT_MS: 120_000, REQUEST_DEADLINE_MS: 120_000 },
      async (accepts) => {
        const copy = here.shared(2, ageMs, source);
        return taken.length === 0 && accepts({ leadMs: ageMs, durationMs: 0 }) ? (taken.push(copy), copy) : null;
      },
    );
    await here.parts.refresher.onModuleInit();
    return here;
  }

  it('is served at once during the first refresh, marked stale however young it is', async () => {
    const here = await restored();
    for (let call = 0; call < 2; call++)
      expect(await here.snapshots.get(ANY)).toMatchObject({ stale: true, cache: 'refreshed', failure: null });
    expect(here.snapshots.status()).toMatchObject({ servable: true, stale: true, accounts: 2 });
    expect(here.asked).toHaveLength(1);
    here.answer(5);
    await turn();
    expect(await here.snapshots.get(ANY)).toMatchObject({ stale: false, snapshot: { size: 5 } });
  });

  it.each<[string, Freshness, ageMs: number]>([
    ['to callers with no-cache', NO_CACHE, 0],
    ['past its maximum age', ANY, MAX_AGE_MS + 1],
  ])('is not served %s', async (_name, wanted, ageMs) => {
    const here = await restored(ageMs);
    const getting = here.snapshots.get(wanted);
    here.answer(5);
    expect(await getting).toMatchObject({ stale: false, snapshot: { size: 5 } });
  });

  it.each<[ageMs: number, stale: boolean]>([
    [FRESH_MS, false],
    [FRESH_MS + 1, true],
  ])('that another instance stored %i ms ago is stale: %p', async (ageMs, stale) => {
    const here = await restored(ageMs, 'shared');
    expect(await here.snapshots.get(ANY)).toMatchObject({ stale, snapshot: { size: 2 } });
  });

  it.each<[ProblemCode, served: boolean]>([
    ['bank-unreachable', true],
    ['access-not-granted', false],
  ])('is taken when a refresh fails with %s and there is nothing else to serve: %p', async (code, served) => {
    let isStored = false;
    const here: Scene = new Scene({}, async () => (isStored ? here.shared(2, FRESH_MS + 1, 'file') : null));
    const getting = Promise.resolve(here.snapshots.get(ANY)).catch((error: unknown) => error);
    isStored = true;
    here.fail(code);
    const expected = served ? { stale: true, failure: code, snapshot: { size: 2 } } : { code };
    expect(await getting).toMatchObject(expected);
  });
});

describe('a snapshot of another instance', () => {
  it("does not end this instance's failures, though callers get it; a probe calls the bank itself", async () => {
    const here = await scene().beginFailing();
    here.clock.advance(1500);
    const getting = here.snapshots.get(ANY);
    here.answerShared(4, 0);
    expect(await getting).toMatchObject({ stale: false, snapshot: { size: 4 } });
    const failing = { isOfOtherInstance: true, stale: false, trouble: { attempts: 1, circuit: 'half-open' } };
    expect(here.snapshots.status()).toMatchObject(failing);
    const probing = here.snapshots.refreshForHealth();
    expect(here.asked.at(-1)?.accepts({ leadMs: 1001, durationMs: 0 })).toBe(false);
    here.answer();
    await probing;
    expect(here.snapshots.status()).toMatchObject({ trouble: null, isOfOtherInstance: false });
  });

  it('is taken even during the back-off', async () => {
    const here: Scene = new Scene({}, async () => here.shared(4, 0));
    await here.beginFailing();
    expect(await here.snapshots.get(ANY)).toMatchObject({ stale: false, snapshot: { size: 4 } });
    expect(here.snapshots.status()).toMatchObject({ trouble: { circuit: 'open' }, stale: false });
    expect(here.asked).toHaveLength(1);
  });

  it('does not replace a newer one, and another refresh follows', async () => {
    const here = await scene().begin({ ageMs: 1500 });
    const getting = here.snapshots.get(NO_CACHE);
    here.answerShared(2, 1501);
    await turn();
    expect(here.snapshots.status().accounts).toBe(3);
    here.answer(5);
    expect((await getting).snapshot.size).toBe(5);
    expect(here.asked).toHaveLength(3);
  });

  it('satisfies plain callers if it is fresh, but not a caller with no-cache who joined them', async () => {
    const here = scene();
    const [plain, now] = [here.snapshots.get(ANY), here.snapshots.get(NO_CACHE)];
    here.answerShared(4, 9000);
    expect(aged(here, await plain)).toMatchObject({ ageMs: 9000, stale: false });
    await turn();
    expect(here.asked).toHaveLength(2);
    here.answer(5);
    expect((await now).snapshot.size).toBe(5);
    expect(here.log.lines('snapshot.refreshed').map(({ source }) => source)).toEqual(['shared', 'bank']);
  });
});

describe('the cached snapshot', () => {
  it.each([
    ['the wall clock', (clock: FakeClock) => clock.moveWall(300_001)],
    ['the monotonic clock', (clock: FakeClock) => clock.moveMonotonic(300_001)],
  ])('is not served if %s alone shows that it is too old', (_name, move) => {
    const { clock, parts, take } = scene();
    const { cached } = parts;
    cached.replace(take());
    move(clock);
    expect(cached.servable).toBeNull();
  });

  it('is replaced by a newer copy or one of the same age, never by an older one', () => {
    const { clock, parts, take } = scene();
    const { cached } = parts;
    const older = take();
    clock.advance(1);
    const [newer, same] = [take(), take()];
    expect([cached.replace(newer), cached.replace(older), cached.snapshot]).toEqual([true, false, newer]);
    expect([cached.replace(same), cached.snapshot]).toEqual([true, same]);
  });

  it('never has a negative age after the wall clock was set back, and is replaced', () => {
    const { clock, parts, take } = scene();
    const { cached } = parts;
    cached.replace(take());
    clock.moveWall(-3_600_000);
    expect(cached.ageMs).toBe(0);
    clock.advance(1000);
    const after = take();
    expect([cached.replace(after), cached.snapshot]).toEqual([true, after]);
  });
});
