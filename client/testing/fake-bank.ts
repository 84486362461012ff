import type { Account } from '../src/generated/types.gen.js';
import type { Scene } from '../src/testing.js';
import { maxCachedAgeMs, type Freshness } from '../../src/cache/freshness.js';
import type { ServedSnapshot } from '../../src/cache/snapshot-service.js';
import { GatewayError } from '../../src/errors/gateway-error.js';
import { AccountList } from '../../src/list/account-list.js';
import { addDecimals } from '../../src/list/decimal.js';
import type { FakeClock } from './fake-clock.js';

/** Default values of the gateway's settings, ms. */
export const LIMITS = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 } as const;
const SOFT_TIMEOUT_MS = 1000;
/** Duration of a refresh in the scene `slow`. */
const SLOW_MS = 5000;
const RETRY_AFTER_MS = 30_000;

interface Snapshot {
  readonly list: AccountList;
  readonly wall: number;
  readonly monotonic: number;
}

/** A snapshot as the gateway's cache returns it. */
export interface Served extends Pick<ServedSnapshot, 'stale' | 'cache' | 'failure' | 'retryInMs'> {
  readonly ageMs: number;
  readonly list: AccountList;
  /** Wall clock, ms. */
  readonly asOf: number;
}

/** The cached snapshot, and its fate in each scene. */
export class FakeBank {
  #scene: Scene = 'well';
  #cached: Snapshot | null = null;
  /** The next call needs a refresh, whatever the snapshot's age. */
  #isOutdated = false;
  #refreshEndsAt: number | null = null;
  #refreshes = 0;

  constructor(
    private readonly accounts: readonly Account[],
    private readonly clock: FakeClock,
  ) {}

  get scene(): Scene {
    return this.#scene;
  }

  set(scene: Scene): void {
    this.#scene = scene;
    this.#isOutdated = true;
    this.#refreshEndsAt = null;
    // a copy from before the bank's failure
    if (scene === 'down') this.#cached ??= this.#read();
  }

  /** @throws GatewayError bank-error; the reason of `signal` */
  async serve(wanted: Freshness, signal: AbortSignal | null): Promise<Served> {
    this.#takeDue();
    const cached = this.#cached;
    if (cached && !this.#isOutdated && this.#ageMs(cached) <= maxCachedAgeMs(wanted, 0, LIMITS)) {
      return this.#toServed(cached, 'hit');
    }
    const cache = wanted.noCache ? 'request' : cached ? 'refreshed' : 'miss';
    const isServable =
      cached !== null && this.#ageMs(cached) <= Math.min(LIMITS.SNAPSHOT_MAX_AGE_MS, wanted.maxStaleAgeMs);
    if (this.#scene === 'down') {
      const down = { stale: true, failure: 'bank-error', retryInMs: RETRY_AFTER_MS } as const;
      if (isServable) return { ...this.#toServed(cached, cache), ...down };
      throw new GatewayError('bank-error', 'The bank answered with status 503.', { retryAfterMs: RETRY_AFTER_MS });
    }
    if (this.#scene === 'slow') {
      this.#refreshEndsAt ??= this.clock.monotonic + SLOW_MS;
      const leftMs = this.#refreshEndsAt - this.clock.monotonic;
      await this.clock.wait(isServable ? leftMs - SLOW_MS + SOFT_TIMEOUT_MS : leftMs, signal);
      this.#takeDue();
      if (isServable && this.#cached === cached) return { ...this.#toServed(cached, cache), stale: true };
      return this.#toServed(this.#cached ?? this.#take(0), cache);
    }
    return this.#toServed(this.#take(0), cache);
  }

  /** Completes a slow refresh that is due. */
  #takeDue(): void {
    if (this.#refreshEndsAt === null || this.clock.monotonic < this.#refreshEndsAt) return;
    this.#take(SLOW_MS);
  }

  #take(agoMs: number): Snapshot {
    this.#refreshEndsAt = null;
    this.#isOutdated = false;
    this.#cached = this.#read(agoMs);
    return this.#cached;
  }

  /** @param agoMs time since the start of the refresh */
  #read(agoMs = 0): Snapshot {
    this.#refreshes += 1;
    const accounts =
      this.#scene === 'empty' ? [] : this.#scene === 'moving' ? this.accounts.map(this.#move) : this.accounts;
    const list = new AccountList();
    for (const account of accounts) list.add(account);
    return { list, wall: this.clock.wall - agoMs, monotonic: this.clock.monotonic - agoMs };
  }

  /** Adds a cent with each refresh. */
  readonly #move = (account: Account): Account => ({
    ...account,
    balances: account.balances.map((entry) => {
      if (entry.intraDay === null || entry.current === null) return entry;
      const moved = `${Math.trunc(this.#refreshes / 100)}.${String(this.#refreshes % 100).padStart(2, '0')}`;
      return { ...entry, intraDay: addDecimals(entry.intraDay, moved), current: addDecimals(entry.current, moved) };
    }),
  });

  /** By both clocks, like the gateway. */
  #ageMs({ wall, monotonic }: Snapshot): number {
    return Math.max(0, this.clock.wall - wall, this.clock.monotonic - monotonic);
  }

  #toServed(snapshot: Snapshot, cache: Served['cache']): Served {
    return {
      list: snapshot.list,
      asOf: snapshot.wall,
      ageMs: this.#ageMs(snapshot),
      stale: false,
      failure: null,
      retryInMs: 0,
      cache,
    };
  }
}
