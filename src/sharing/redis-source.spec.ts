import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { onClose } from '../../test/support/closing.js';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import { acceptsCopy, ANY } from '../cache/freshness.js';
import { account, snapshotOf } from '../../test/support/sample-snapshots.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import { SnapshotSource, type RefreshRequest } from '../snapshot/snapshot-source.js';
import type { Command, RedisConnection } from './redis-connection.js';
import { RedisSource } from './redis-source.js';
import { RedisStore } from './redis-store.js';
import { HEADER_BYTES, seal, toGroup } from './sealing.js';

const NOW_MS = Date.UTC(2026, 10, 21);

interface Stored {
  readonly lookedAtMs: number;
  readonly loadedMs: number;
  /** Duration of the refresh, ms. */
  readonly durationMs?: number;
}

/** A source with a Redis whose copy may change between look and load. */
async function scene(
  { lookedAtMs, loadedMs, durationMs = 5 }: Stored,
  settings = { SNAPSHOT_READ_TIMEOUT_MS: 60_000 },
) {
  const clock = new FakeClock(NOW_MS);
  let locked = false;
  const bank = { BANK_BASE_URL: 'https://bank.example', BANK_AUTH_URL: 'https://bank.example' };
  const group = await toGroup({ username: 'user' } as IdentityMaterial, bank, randomBytes(32));
  const json = new TextEncoder().encode(JSON.stringify([account()]));
  const sealed = (asOfMs: number) => seal({ json, facts: { asOfMs, durationMs, complete: true } }, group);
  const [lookedAt, loaded] = [await sealed(lookedAtMs), await sealed(loadedMs)];
  const answer = ([name, , , end]: Command): unknown => {
    if (name === 'SET') return locked ? null : 'OK';
    if (name === 'TIME') return [String(NOW_MS / 1000), '0'];
    if (name === 'STRLEN') return loaded.length;
    if (name !== 'GETRANGE') return 1;
    return Number(end) < HEADER_BYTES ? lookedAt.subarray(0, HEADER_BYTES) : loaded;
  };
  const sent: Command[] = [];
  const send = async (commands: readonly Command[]) => {
    sent.push(...commands);
    if (locked && commands[0]?.includes('NX')) clock.advance(1000);
    return commands.map(answer);
  };
  const connection = { trouble: null, waitMs: 60_000, send, close: () => undefined } as unknown as RedisConnection;
  const { logger, lines } = keepLines();
  const limits = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 };
  const store = new RedisStore(connection, { ...limits, REDIS_KEY_PREFIX: '' }, clock, logger);
  const snapshot = () => snapshotOf([account()], true, clock.now(), durationMs);
  const parts = { connection, store, group: async () => group, clock, logger, settings };
  const source = new RedisSource(new OneSnapshot(snapshot), parts);
  onClose(() => source.close());
  const request: RefreshRequest = {
    refreshId: 'id',
    signal: new AbortController().signal,
    accepts: (copy) => acceptsCopy(ANY, copy, limits),
  };
  return {
    clock,
    store,
    group,
    lines,
    read: async () => {
      const read = await source.read(request);
      onClose(() => read.snapshot.list.end());
      return read;
    },
    readShared: async () => {
      const read = await source.readShared(request);
      onClose(async () => read?.snapshot.list.end());
      return read;
    },
    sent,
    /** Another instance takes the lock. From now on each look takes a second. */
    lock: () => (locked = true),
    unlock: () => (locked = false),
  };
}

/** The bank, which always responds. */
class OneSnapshot extends SnapshotSource {
  constructor(private readonly create: () => Snapshot) {
    super();
  }

  override async read() {
    return { snapshot: this.create(), pages: 1, source: 'bank' as const };
  }
}

describe('a new snapshot', () => {
  it.each([
    ['at most', new Uint8Array(1), true, 0],
    ['more than', null, false, 1],
  ])('of %s 64 MB is shared or not, which is logged once', async (_size, json, shared, count) => {
    const { store, group, lines } = await scene({ lookedAtMs: 0, loadedMs: 0 });
    const limits: number[] = [];
    const toJson = async (maxBytes: number) => (limits.push(maxBytes), json);
    const snapshot = { ...snapshotOf([]), list: { toJson } } as unknown as Snapshot;
    for (const asOfMs of [NOW_MS, NOW_MS + 1]) expect(await store.store(group, snapshot, asOfMs)).toBe(shared);
    expect(limits).toEqual([64 * 2 ** 20, 64 * 2 ** 20]);
    expect(lines('sharing.refused')).toHaveLength(count);
  });
});

describe('a copy', () => {
  it('has the age of what was loaded', async () => {
    const { clock, read } = await scene({ lookedAtMs: NOW_MS - 9000, loadedMs: NOW_MS - 5000 });
    const { source, snapshot } = await read();
    expect(source).toBe('shared');
    expect(Math.round(clock.since(snapshot.askedAt))).toBe(5000);
  });

  it('is not used if an older one replaced it between look and load', async () => {
    const { read } = await scene({ lookedAtMs: NOW_MS - 1000, loadedMs: NOW_MS - 60_000 });
    expect((await read()).source).toBe('bank');
  });

  it.each([
    [5000, 'shared'],
    [60_000, undefined],
  ] as const)('of %i ms is taken without the lock where the bank is not asked: %s', async (ageMs, source) => {
    const { readShared, sent } = await scene({ lookedAtMs: NOW_MS - ageMs, loadedMs: NOW_MS - ageMs });
    expect((await readShared())?.source).toBe(source);
    expect(sent.map(([name]) => name)).not.toContain('SET');
  });

  it('is not used if it is from the future', async () => {
    const { read } = await scene({ lookedAtMs: NOW_MS + 60_000, loadedMs: NOW_MS + 60_000 });
    expect((await read()).source).toBe('bank');
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

  it('is waited for at most a third of SNAPSHOT_READ_TIMEOUT_MS', async () => {
    const { clock, read, lock } = await scene({ lookedAtMs: 0, loadedMs: 0 }, { SNAPSHOT_READ_TIMEOUT_MS: 6000 });
    lock();
    const began = clock.now();
    expect((await read()).source).toBe('bank');
    expect(clock.since(began)).toBe(2000);
  });

  it('is not waited for a third time after two waits in vain, which is logged; once the lock is free, waiting starts again', async () => {
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
