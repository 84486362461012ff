import { describe, expect, it } from '@jest/globals';
import { account, LocalList, snapshotOf } from '../../test/support/sample-snapshots.js';
import { until } from '../../test/support/until.js';
import type { Question } from '../list/questions.js';
import type { ServedSnapshot } from '../cache/snapshot-cache.js';
import { EncodedResponses } from './encoded-responses.js';

const MB = 1024 * 1024;
const STAYS = new AbortController().signal;
const question = (number: number): Question => ({ kind: 'account', id: String(number) });

/** Responses of a list that returns a body of `bytes`, once the gate is open. */
function begin(bytes: number) {
  const gate = Promise.withResolvers<void>();
  const counts = { asked: 0, atOnce: 0, mostAtOnce: 0 };
  const answer = async (asked: Question) => {
    counts.asked += 1;
    counts.atOnce += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.atOnce);
    await gate.promise;
    counts.atOnce -= 1;
    return { digest: JSON.stringify(asked), body: new Uint8Array(bytes) };
  };
  const snapshot = { ...snapshotOf([account()]), list: Object.assign(new LocalList([]), { answer }) };
  const served: ServedSnapshot = { snapshot, ageMs: 0, stale: false, cache: 'hit', failure: null };
  const responses = new EncodedResponses({ SNAPSHOT_MAX_AGE_MS: 300_000 });
  return {
    counts,
    open: gate.resolve,
    get: (number: number, encoding: 'identity' | 'br' = 'identity', caller = STAYS) =>
      responses.get(served, question(number), encoding, caller),
    find: (number: number, encoding: 'identity' | 'br' = 'identity') =>
      responses.find(served, question(number), encoding),
  };
}

describe('a response', () => {
  it('is built once for all callers with the same question, and kept', async () => {
    const { counts, open, get, find } = begin(10);
    const both = [get(1), get(1)];
    open();
    const [one, other] = await Promise.all(both);
    expect([one === other, find(1) === one, await get(1)]).toEqual([true, true, one]);
    expect(counts.asked).toBe(1);
    expect(find(2)).toBeUndefined();
  });

  it('is kept with others up to 32 MB per snapshot; the least recently used is dropped', async () => {
    const { open, get, find } = begin(3.5 * MB);
    open();
    for (let number = 0; number < 10; number++) {
      await get(number);
      expect(find(0)).toBeDefined();
    }
    expect(Array.from({ length: 10 }, (_, number) => find(number) !== undefined)).toEqual([
      true,
      false,
      ...Array<boolean>(8).fill(true),
    ]);
  });

  it('is compressed over 1 KB, and kept compressed', async () => {
    const { open, get, find } = begin(2000);
    open();
    const compressed = await get(1, 'br');
    expect([compressed?.encoding, find(1, 'br') === compressed]).toEqual(['br', true]);
    expect((await get(1))?.encoding).toBe('identity');
  });

  it('is not compressed up to 1 KB', async () => {
    const { open, get, find } = begin(1000);
    open();
    const plain = await get(1, 'br');
    expect([plain?.encoding, find(1, 'br') === plain]).toEqual(['identity', true]);
  });

  it('is sent uncompressed while more than 16 wait for compression, and compressed later', async () => {
    const { open, get, find } = begin(2 * MB);
    open();
    const all = await Promise.all(Array.from({ length: 40 }, (_, number) => get(number, 'br')));
    const plain = all.filter((response) => response?.encoding === 'identity').length;
    expect(plain).toBeGreaterThan(0);
    expect(plain).toBeLessThanOrEqual(40 - 18);
    const first = all.findIndex((response) => response?.encoding === 'identity');
    expect(find(first, 'br')).toBeUndefined();
    expect((await get(first, 'br'))?.encoding).toBe('br');
  });
});

describe('callers', () => {
  it('cost the list at most 2 questions at once', async () => {
    const { counts, open, get } = begin(10);
    const all = Array.from({ length: 20 }, (_, number) => get(number));
    await until(() => counts.atOnce === 2);
    open();
    await Promise.all(all);
    expect(counts).toEqual({ asked: 20, atOnce: 0, mostAtOnce: 2 });
  });

  it('who left before their turn cost no question; those who stay get a response', async () => {
    const { counts, open, get } = begin(10);
    const leaver = new AbortController();
    const busy = [get(1), get(2)];
    const left = [get(3, 'br', leaver.signal), get(3, 'identity', leaver.signal), get(4, 'br', leaver.signal)];
    const stays = get(4, 'br');
    const ends = Promise.allSettled(left);
    leaver.abort(new Error('left'));
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    open();
    expect(await stays).not.toBeNull();
    await Promise.all(busy);
    expect(counts.asked).toBe(3);
  });
});
