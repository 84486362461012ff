import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { onClose } from '../../test/support/closing.js';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import { GatewayError } from '../errors/gateway-error.js';
import { until } from '../../test/support/until.js';
import { acceptsCopy, ANY } from '../cache/freshness.js';
import { account, snapshotOf } from '../../test/support/sample-snapshots.js';
import type { Settings } from '../config/settings.js';
import { SnapshotSource, type RefreshRequest, type Snapshot } from '../snapshot/snapshot-source.js';
import type { Command, RedisConnection } from './redis-connection.js';
import { Stopwatch } from '../time/stopwatch.js';
import { RedisSource } from './redis-source.js';
import { RedisStore } from './redis-store.js';
import { HEADER_BYTES, seal, toGroup } from './sealing.js';

const NOW_MS = Date.UTC(2026, 10, 21);

interface Stored {
  readonly lookedAtMs: number;
  readonly loadedMs: number;
  /** Duration of the refresh, ms. */
  readonly durationMs?: number;
  /** Duration of a check, ms. */
  readonly lookMs?: number;
}

/** A source with a Redis whose copy may change between check and load. */
async function scene(
  { lookedAtMs, loadedMs, durationMs = 5, lookMs = 0 }: Stored,
  settings = { SNAPSHOT_READ_TIMEOUT_MS: 60_000 },
) {
  const clock = new FakeClock(NOW_MS);
  let locked = false;
  let holder = 'owner';
  const addresses = { BANK_BASE_URL: 'https://bank.example', BANK_AUTH_URL: 'https://bank.example' };
  const group = await toGroup({ username: 'user' } as IdentityMaterial, addresses, randomBytes(32));
  const json = new TextEncoder().encode(JSON.stringify([account()]));
  const sealed = (asOfMs: number) => seal({ json, facts: { asOfMs, durationMs, complete: true } }, group);
  const [lookedAt, loaded] = [await sealed(lookedAtMs), await sealed(loadedMs)];
  const answer = ([name, , , end]: Command): unknown => {
    if (name === 'SET') return locked ? null : 'OK';
    if (name === 'GET') return holder;
    if (name === 'TIME') return [String(NOW_MS / 1000), '0'];
    if (name === 'STRLEN') return loaded.length;
    if (name !== 'GETRANGE') return 1;
    return Number(end) < HEADER_BYTES ? lookedAt.subarray(0, HEADER_BYTES) : loaded;
  };
  const sent: Command[] = [];
  const waits: number[] = [];
  const damage = () => void loaded.writeUInt8(loaded.readUInt8(200) ^ 1, 200);
  const send = async (
    commands: readonly Command[],
    withinMs: number,
    read = (replies: unknown[]): unknown => replies,
  ) => {
    sent.push(...commands);
    waits.push(withinMs);
    if (commands.length > 1) clock.advance(lookMs);
    if (locked && commands[0]?.includes('NX')) clock.advance(1000);
    return read(commands.map(answer));
  };
  const connection = { trouble: null, waitMs: 60_000, send, close: () => undefined } as unknown as RedisConnection;
  const { logger, lines } = keepLines();
  const limits = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 };
  const place = new RedisStore(connection, '', 300_000, clock, 'owner');
  const snapshot = () => snapshotOf([account()], true, clock.now(), durationMs);
  const bank = new OneSnapshot(snapshot);
  const parts = { group: async () => group, clock, logger, settings: { ...limits, ...settings } as Settings };
  const source = new RedisSource(bank, connection, place, parts);
  onClose(() => source.close());
  const request: RefreshRequest = {
    refreshId: 'id',
    signal: new AbortController().signal,
    accepts: (copy) => acceptsCopy(ANY, copy, limits),
    ownWork: new Stopwatch(clock),
  };
  return {
    clock,
    lines,
    read: async () => {
      const read = await source.read(request);
      onClose(() => read.list.end());
      return read;
    },
    take: async (accepts = request.accepts) => {
      const read = await source.take(accepts);
      onClose(async () => read?.list.end());
      return read;
    },
    sent,
    waits,
    damage,
    /** Another instance takes the lock. From now on, each check takes a second. */
    lock: (by = 'another') => ([locked, holder] = [true, by]),
    unlock: () => ([locked, holder] = [false, 'owner']),
    bank,
  };
}

/** The bank, which always responds. */
class OneSnapshot extends SnapshotSource {
  constructor(private readonly create: () => Snapshot) {
    super();
  }

  error: GatewayError | null = null;

  override async read() {
    if (this.error) throw this.error;
    return this.create();
  }
}

describe('a copy', () => {
  it('has the age of the version that was loaded', async () => {
    const { clock, read } = await scene({ lookedAtMs: NOW_MS - 9000, loadedMs: NOW_MS - 5000 });
    const snapshot = await read();
    expect(snapshot.source).toBe('shared');
    expect(Math.round(clock.since(snapshot.askedAt))).toBe(5000);
  });

  it('is loaded within the rest of the wait after its check', async () => {
    const { read, waits } = await scene({ lookedAtMs: NOW_MS - 9000, loadedMs: NOW_MS - 9000, lookMs: 150 });
    expect((await read()).source).toBe('shared');
    // plus 20 ms per MB
    expect(waits.slice(0, 2).map(Math.floor)).toEqual([60_000, 59_850]);
  });

  it('is not used if an older one replaced it between check and load', async () => {
    const { read } = await scene({ lookedAtMs: NOW_MS - 1000, loadedMs: NOW_MS - 60_000 });
    expect((await read()).source).toBe('bank');
  });

  it.each([
    [5000, 'shared'],
    [60_000, undefined],
  ] as const)('of %i ms is taken without the lock if the bank is not called: %s', async (ageMs, source) => {
    const { take, sent } = await scene({ lookedAtMs: NOW_MS - ageMs, loadedMs: NOW_MS - ageMs });
    expect((await take())?.source).toBe(source);
    expect(sent.map(([name]) => name)).not.toContain('SET');
  });

  it('is not used if it is from the future', async () => {
    const { read } = await scene({ lookedAtMs: NOW_MS + 60_000, loadedMs: NOW_MS + 60_000 });
    expect((await read()).source).toBe('bank');
  });
});

it('a value that cannot be opened is ignored, and logged once', async () => {
  const { read, lines, damage } = await scene({ lookedAtMs: NOW_MS - 1000, loadedMs: NOW_MS - 1000 });
  damage();
  for (let times = 0; times < 3; times += 1) expect((await read()).source).toBe('bank');
  expect(lines('sharing.refused')).toMatchObject([{ what: 'redis', reason: 'damaged' }]);
});

describe('after access was withdrawn', () => {
  it('an older copy that another instance stores again is not taken until the bank lists accounts again', async () => {
    const { bank, clock, read, take, sent } = await scene({ lookedAtMs: NOW_MS - 20_000, loadedMs: NOW_MS - 20_000 });
    const ANY_AGE = () => true;
    expect((await take(ANY_AGE))?.source).toBe('shared');
    bank.error = new GatewayError('access-not-granted', 'no');
    await expect(read()).rejects.toThrow('no');
    clock.advance(1);
    expect(await take(ANY_AGE)).toBeNull();
    await until(() => sent.some(([name]) => name === 'DEL'));
    bank.error = null;
    await read();
    expect((await take(ANY_AGE))?.source).toBe('shared');
  });
});

describe("another instance's refresh", () => {
  it.each([
    [0, 5000],
    [2000, 5000],
    [4000, 8000],
  ])('is waited for: if the last one took %i ms, for %i ms; then the bank is called', async (durationMs, waitedMs) => {
    const { clock, read, lock } = await scene({ lookedAtMs: 0, loadedMs: 0, durationMs });
    await read();
    lock();
    const began = clock.now();
    expect((await read()).source).toBe('bank');
    expect(clock.since(began)).toBe(waitedMs);
  });

  it("is not waited for if the lock is this instance's own, left by a closed connection", async () => {
    const { clock, read, lock } = await scene({ lookedAtMs: 0, loadedMs: 0 });
    lock('owner');
    const began = clock.now();
    expect((await read()).source).toBe('bank');
    // one check
    expect(clock.since(began)).toBe(1000);
  });

  it('is waited for at most a third of SNAPSHOT_READ_TIMEOUT_MS', async () => {
    const { clock, read, lock } = await scene({ lookedAtMs: 0, loadedMs: 0 }, { SNAPSHOT_READ_TIMEOUT_MS: 6000 });
    lock();
    const began = clock.now();
    expect((await read()).source).toBe('bank');
    expect(clock.since(began)).toBe(2000);
  });

  it('is not waited for after two waits in vain, which is logged; once the lock is free, waiting starts again', async () => {
    const { clock, lines, read, lock, unlock } = await scene({ lookedAtMs: 0, loadedMs: 0 });
    const waitedMs = async () => {
      const began = clock.now();
      await read();
      return clock.since(began);
    };
    lock();
    expect([await waitedMs(), await waitedMs(), await waitedMs(), await waitedMs()]).toEqual([5000, 5000, 1000, 1000]);
    expect(lines('sharing.refused')).toMatchObject([{ what: 'redis', reason: 'lock' }]);
    unlock();
    await read();
    lock();
    expect(await waitedMs()).toBe(5000);
  });
});
