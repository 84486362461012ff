import { describe, expect, it } from '@jest/globals';
import { account, LocalList, snapshotOf } from '../../test/support/sample-snapshots.js';
import type { SnapshotFacts } from '../list/document-schemas.js';
import type { Query } from '../list/queries.js';
import type { ServedSnapshot } from '../cache/snapshot-service.js';
import type { Settings } from '../config/settings.js';
import { EncodedResponses, type EncodedResponse } from './encoded-responses.js';

const MB = 1024 * 1024;
const STAYS = new AbortController().signal;
const query = (number: number): Query => ({ kind: 'account', id: String(number) });

const encodingOf = (response: EncodedResponse | null) => response?.headers['content-encoding'] ?? 'identity';

/** Responses from a list that returns a body of `bytes` once the gate is open. */
function begin(bytes: number) {
  const gate = Promise.withResolvers<void>();
  const asked: { readonly query: Query; readonly signal: AbortSignal }[] = [];
  const document = async (query: Query, _facts: SnapshotFacts, signal: AbortSignal) => {
    asked.push({ query, signal });
    await gate.promise;
    return { digest: JSON.stringify(query), body: new Uint8Array(bytes) };
  };
  const snapshot = { ...snapshotOf([account()]), list: Object.assign(new LocalList([]), { document }) };
  const served: ServedSnapshot = { snapshot, stale: false, cache: 'hit', failure: null, retryInMs: 0 };
  const responses = new EncodedResponses({ SNAPSHOT_MAX_AGE_MS: 300_000 } as Settings);
  return {
    asked,
    open: gate.resolve,
    get: async (number: number, encoding: 'identity' | 'br' = 'identity', caller = STAYS) =>
      responses.get(served, query(number), encoding, () => caller),
    /** The response if it is in memory. */
    find: (number: number, encoding: 'identity' | 'br' = 'identity') => {
      const leaver = new AbortController();
      const found = responses.get(served, query(number), encoding, () => leaver.signal);
      if (!(found instanceof Promise)) return found;
      found.catch(() => undefined);
      leaver.abort();
      return undefined;
    },
  };
}

describe('a response', () => {
  it('is built once for all callers with the same query, and kept', async () => {
    const { asked, open, get, find } = begin(10);
    const both = [get(1), get(1)];
    open();
    const [one, other] = await Promise.all(both);
    expect([one === other, find(1) === one, await get(1)]).toEqual([true, true, one]);
    expect(asked).toHaveLength(1);
    expect(find(2)).toBeUndefined();
  });

  it('is kept with others, up to 32 MB per snapshot; the least recently used is dropped first', async () => {
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

  it('above 1 KB is compressed, and kept compressed', async () => {
    const { open, get, find } = begin(2000);
    open();
    const compressed = await get(1, 'br');
    expect([encodingOf(compressed), find(1, 'br') === compressed]).toEqual(['br', true]);
    expect(encodingOf(await get(1))).toBe('identity');
  });

  it('up to 1 KB is not compressed', async () => {
    const { open, get, find } = begin(1000);
    open();
    const plain = await get(1, 'br');
    expect([encodingOf(plain), find(1, 'br') === plain]).toEqual(['identity', true]);
  });

  it('is sent uncompressed while more than 16 wait for compression, and compressed later', async () => {
    const { open, get, find } = begin(2 * MB);
    open();
    const all = await Promise.all(Array.from({ length: 40 }, (_, number) => get(number, 'br')));
    const plain = all.filter((response) => encodingOf(response) === 'identity').length;
    expect(plain).toBeGreaterThan(0);
    expect(plain).toBeLessThanOrEqual(40 - 18);
    const first = all.findIndex((response) => encodingOf(response) === 'identity');
    expect(find(first, 'br')).toBeUndefined();
    expect(encodingOf(await get(first, 'br'))).toBe('br');
  });
});

describe('callers', () => {
  it('who have all left cancel their query; callers who stay get a response', async () => {
    const { asked, open, get } = begin(10);
    const leaver = new AbortController();
    const left = [get(3, 'br', leaver.signal), get(3, 'identity', leaver.signal), get(4, 'br', leaver.signal)];
    const stays = get(4, 'br');
    const ends = Promise.allSettled(left);
    leaver.abort(new Error('left'));
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(asked.map(({ query, signal }) => [query, signal.aborted])).toEqual([
      [{ kind: 'account', id: '3' }, true],
      [{ kind: 'account', id: '4' }, false],
    ]);
    open();
    expect(await stays).not.toBeNull();
  });
});
