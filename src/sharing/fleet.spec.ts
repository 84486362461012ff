import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import type { IdentityMaterial } from '../auth/identity-material.js';
import { ANY } from '../snapshot/freshness.js';
import { account, snapshotOf } from '../../test/support/sample-snapshots.js';
import { Snapshot } from '../list/snapshot.js';
import { Fleet } from './fleet.js';
import type { Command, RedisConnection } from './redis-connection.js';
import { RedisStore } from './redis-store.js';
import { HEADER_BYTES, seal, toGroup } from './sealing.js';

const NOW_MS = Date.UTC(2026, 10, 21);

interface Stored {
  readonly lookedAtMs: number;
  readonly loadedMs: number;
  /** Duration of the refresh, ms. */
  readonly durationMs?: number;
}

/** A fleet in front of a Redis that shows one copy to those who look, and gives another to those who load. */
async function scene({ lookedAtMs, loadedMs, durationMs = 5 }: Stored) {
  const clock = new FakeClock();
  let locked = false;
  const settings = { BANK_BASE_URL: 'https://bank.example', BANK_AUTH_URL: 'https://bank.example' };
  const group = await toGroup({ username: 'user' } as IdentityMaterial, settings, randomBytes(32));
  const { buffer, askedAt } = snapshotOf([account()]);
  const snapshot = new Snapshot(buffer, { askedAt, durationMs });
  const [lookedAt, loaded] = [await seal(snapshot, lookedAtMs, group), await seal(snapshot, loadedMs, group)];
  const answer = ([name, , , end]: Command): unknown => {
    if (name === 'SET') return locked ? null : 'OK';
    if (name === 'TIME') return [String(NOW_MS / 1000), '0'];
    if (name === 'STRLEN') return loaded.length;
    if (name !== 'GETRANGE') return 1;
    return Number(end) < HEADER_BYTES ? lookedAt.subarray(0, HEADER_BYTES) : loaded;
  };
  const send = async (commands: readonly Command[]) => {
    if (locked) clock.advance(1000);
    return commands.map(answer);
  };
  const connection = { trouble: null, send } as unknown as RedisConnection;
  const log = keepLines();
  const limits = { SNAPSHOT_FRESH_MS: 10_000, SNAPSHOT_MAX_AGE_MS: 300_000 };
  const store = new RedisStore(connection, { ...limits, REDIS_KEY_PREFIX: '' }, clock, log.logger);
  const reader = { read: async () => ({ snapshot, pages: 1 }) };
  const fleet = new Fleet(connection, store, async () => group, clock, limits);
  return {
    clock,
    store,
    group,
    log,
    read: () => fleet.read(reader, 'id', new AbortController().signal, ANY),
    /** Another instance takes the lock; from now on each command takes a second. */
    lock: () => (locked = true),
  };
}

describe('a snapshot to be stored', () => {
  it.each([
    [64 * 2 ** 20, true, 0],
    [64 * 2 ** 20 + 1, false, 1],
  ])('of %i bytes is shared: %s', async (bytes, shared, lines) => {
    const { store, group, log } = await scene({ lookedAtMs: 0, loadedMs: 0 });
    const snapshot = { buffer: new ArrayBuffer(bytes), durationMs: 5 } as Snapshot;
    for (const asOfMs of [NOW_MS, NOW_MS + 1]) expect(await store.store(group, snapshot, asOfMs)).toBe(shared);
    expect(log.lines('sharing.refused')).toHaveLength(lines);
  });
});

describe('a copy', () => {
  it('has the age of what was loaded', async () => {
    const { clock, read } = await scene({ lookedAtMs: NOW_MS - 9000, loadedMs: NOW_MS - 5000 });
    const { source, snapshot } = await read();
    expect(source).toBe('shared');
    expect(Math.round(clock.since(snapshot.askedAt))).toBe(5000);
  });

  it('that is swapped for an older one between look and load is not taken', async () => {
    const { read } = await scene({ lookedAtMs: NOW_MS - 1000, loadedMs: NOW_MS - 60_000 });
    expect((await read()).source).toBeUndefined();
  });

  it('from the future is not taken', async () => {
    const { read } = await scene({ lookedAtMs: NOW_MS + 60_000, loadedMs: NOW_MS + 60_000 });
    expect((await read()).source).toBeUndefined();
  });
});

describe("another instance's refresh", () => {
  it.each([
    [0, 5000],
    [2000, 5000],
    [4000, 8000],
  ])('is waited for: after one of %i ms for %i ms, then the bank is asked', async (durationMs, waitedMs) => {
    const { clock, read, lock } = await scene({ lookedAtMs: 0, loadedMs: 0, durationMs });
    await read();
    lock();
    const began = clock.now();
    expect((await read()).source).toBeUndefined();
    expect(clock.since(began)).toBe(waitedMs);
  });
});
