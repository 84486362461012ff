import { describe, expect, it } from '@jest/globals';
import { onClose } from '../../test/support/closing.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { account } from '../../test/support/sample-snapshots.js';
import { until } from '../../test/support/until.js';
import { heapLimitMb, ListEnded, ListThread } from './list-thread.js';
import type { Query } from '../list/queries.js';

const FACTS = { asOf: '2026-11-21T08:00:00.000Z', expiresAt: '2026-11-21T08:05:00.000Z', stale: false, complete: true };
const SELECTION = { filters: {}, sort: 'name' } as const;
const ALL: Query = { kind: 'accounts', selection: SELECTION, number: 1, size: 1000 };
const STAYS = new AbortController().signal;

/** A thread that runs `script` for each call. */
function start(script?: string): ListThread {
  const program = `const { parentPort } = require('node:worker_threads');\nparentPort.on('message', (call) => {${script}});`;
  const thread = script === undefined ? new ListThread() : new ListThread({ program, maxHeapMb: 32 });
  onClose(() => thread.end());
  return thread;
}

const bodyWith = (result: readonly object[]) => Buffer.from(JSON.stringify({ result }));
const page = (...ids: string[]) =>
  Buffer.from(JSON.stringify({ result: ids.map((accountId) => ({ accountId })), pageInfo: { rowCount: ids.length } }));

interface Shown {
  readonly accounts: { readonly id: string }[];
}
const bodyOf = async (thread: ListThread, query: Query = ALL) => {
  const answer = await thread.document(query, FACTS, STAYS);
  return JSON.parse(new TextDecoder().decode(answer?.body ?? undefined)) as Shown;
};
const idsOf = async (thread: ListThread) => (await bodyOf(thread)).accounts.map(({ id }) => id);

async function listOf(...ids: string[]): Promise<ListThread> {
  const thread = start();
  await thread.takePage(1, page(...ids));
  await thread.finish();
  return thread;
}

describe('a list thread', () => {
  it('parses pages, and answers queries about their accounts', async () => {
    const thread = start();
    expect(await thread.takePage(1, page('b', 'a'))).toEqual({
      accounts: 2,
      added: 2,
      rowCount: 2,
      echoedSize: null,
    });
    expect(await thread.takePage(2, page('c', 'a'))).toMatchObject({ accounts: 2, added: 1 });
    expect(await thread.finish()).toEqual({ accounts: 3, fields: { drift: [], known: ['accountId'] } });
    expect(await idsOf(thread)).toEqual(['a', 'b', 'c']);
    expect(await bodyOf(thread, { kind: 'account', id: 'b' })).toMatchObject({ account: { id: 'b' }, snapshot: FACTS });
    expect(await thread.document({ kind: 'account', id: 'd' }, FACTS, STAYS)).toBeNull();
    expect(await bodyOf(thread, { kind: 'totals', filters: {} })).toEqual({ totals: [], snapshot: FACTS });
  });

  it('starts over with page 1', async () => {
    const thread = start();
    await thread.takePage(1, page('old'));
    await thread.takePage(1, page('new'));
    await thread.finish();
    expect(await idsOf(thread)).toEqual(['new']);
  });

  it('returns equal digests for equal data and state, whatever the times', async () => {
    const digestOf = async (thread: ListThread, change: object) =>
      (await thread.document(ALL, { ...FACTS, ...change }, STAYS))?.digest;
    const [one, other, more] = [await listOf('a', 'b'), await listOf('b', 'a'), await listOf('a', 'b', 'c')];
    const digest = await digestOf(one, {});
    expect(await digestOf(other, { asOf: 'later', expiresAt: 'later' })).toBe(digest);
    for (const change of [{ stale: true }, { complete: null }]) expect(await digestOf(one, change)).not.toBe(digest);
    expect(await digestOf(more, {})).not.toBe(digest);
  });

  it('exports its accounts as JSON, which another thread can read; null if the JSON is too large', async () => {
    const accounts = [account({ id: 'a', name: 'Ä' }), account({ id: 'b', name: 'B' })];
    const json = new TextEncoder().encode(JSON.stringify(accounts));
    const thread = start();
    expect(await thread.restore(json.slice())).toBe(2);
    expect(await thread.toJson(json.length)).toEqual(json);
    expect(await thread.toJson(json.length - 1)).toBeNull();
  });

  it('returns the error of an unreadable page', async () => {
    const wrong = bodyWith([{ accountId: {} }]);
    expect(await rejectionOf(() => start().takePage(1, wrong))).toMatchObject({
      code: 'bank-response-invalid',
      detail: 'In the account list, result[0].accountId is not a string.',
    });
  });

  it('does not transfer bytes that share a buffer with others', async () => {
    const shared = Buffer.concat([Buffer.from('x'), page('a')]);
    await start().takePage(1, shared.subarray(1));
    expect(shared.toString()).toContain('accountId');
  });
});

describe('a slow search', () => {
  const slow = () => {
    const result = Array.from({ length: 500 }, (_, index) => ({
      accountId: `a-${index}`,
      accountDescription: '\u1f82'.repeat(3990),
    }));
    return bodyWith(result);
  };
  const search = (q: string): Query => ({
    kind: 'accounts',
    selection: { filters: { q }, sort: 'name' },
    number: 1,
    size: 50,
  });

  it('blocks neither other queries nor the next list', async () => {
    const thread = start();
    await thread.takePage(1, slow());
    await thread.finish();
    const done: string[] = [];
    const searches = ['X', 'Y'].map((q) => thread.document(search(q), FACTS, STAYS).then(() => done.push(q)));
    await bodyOf(thread, { kind: 'account', id: 'a-7' });
    done.push('other');
    await idsOf(await listOf('next'));
    await Promise.all(searches);
    expect(done[0]).toBe('other');
  });

  it('ends when its caller has left, and so does its thread if it is retired', async () => {
    const thread = start();
    await thread.takePage(1, slow());
    await thread.finish();
    const caller = new AbortController();
    // more than one list processes at once
    const left = Array.from({ length: 20 }, (_, index) => thread.document(search(`Q${index}`), FACTS, caller.signal));
    const ends = Promise.allSettled(left);
    const kept = idsOf(thread);
    caller.abort(new Error('left'));
    expect(new Set((await ends).map((end) => end.status === 'rejected' && end.reason.message))).toEqual(
      new Set(['left']),
    );
    expect(await kept).toHaveLength(500);
    thread.retire();
    await until(() => thread.hasEnded);
  });
});

describe('a long document', () => {
  const long = () => {
    const texts = Object.fromEntries(
      ['friendlyName', 'accountDescription', 'ownedByCompanyName'].map((name) => [name, 'x'.repeat(4000)]),
    );
    const result = Array.from({ length: 500 }, (_, index) => ({ accountId: `a-${index}`, ...texts }));
    return bodyWith(result);
  };

  it('has no body in the answer, and is read in pieces', async () => {
    const thread = start();
    await thread.takePage(1, long());
    await thread.finish();
    const answer = await thread.document(ALL, FACTS, STAYS);
    expect(answer).toMatchObject({ body: null, digest: expect.stringMatching(/^[\w-]{27}$/) });
    const pieces: Uint8Array[] = [];
    for await (const piece of thread.pieces(ALL, FACTS, STAYS)) pieces.push(piece);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Shown;
    expect([pieces.length > 50, body.accounts.length]).toEqual([true, 500]);
  });

  it('keeps a retired thread alive until it is read to the end or abandoned', async () => {
    const thread = start();
    await thread.takePage(1, long());
    await thread.finish();
    const csv = { kind: 'csv', selection: SELECTION, dialect: { separator: 'comma', decimal: 'point' } } as const;
    const [read, left] = [thread.pieces(csv, FACTS, STAYS), thread.pieces(csv, FACTS, STAYS)];
    await Promise.all([read.next(), left.next()]);
    thread.retire();
    await left.return();
    let pieces = 0;
    for await (const _piece of read) pieces += 1;
    expect(pieces).toBeGreaterThan(10);
    await until(() => thread.hasEnded);
    expect(await rejectionOf(() => thread.document(ALL, FACTS, STAYS))).toBeInstanceOf(ListEnded);
  });
});

describe('a retired thread', () => {
  it('ends at once when idle, else after its open queries', async () => {
    const [idle, asked] = [await listOf('a'), await listOf('a')];
    const ids = idsOf(asked);
    idle.retire();
    asked.retire();
    expect(await ids).toEqual(['a']);
    await until(() => idle.hasEnded && asked.hasEnded);
    await expect(idsOf(idle)).rejects.toBeInstanceOf(ListEnded);
  });
});

describe('a failing thread', () => {
  it.each([
    ['throws', 'throw new Error("no such thing")', 'internal-error'],
    ['needs too much memory', 'const all = []; for (;;) all.push(new Array(1e6).fill({}));', 'overloaded'],
    ['is ended', '', 'internal-error'],
  ])('that %s rejects the page and all later calls', async (_name, script, code) => {
    const thread = start(script);
    if (script === '') setImmediate(() => void thread.end());
    expect((await rejectionOf(() => thread.takePage(1, page('a')))).code).toBe(code);
    expect((await rejectionOf(() => thread.finish())).code).toBe(code);
    expect(thread.hasEnded).toBe(true);
  });

  it('whose list does not fit into its heap rejects the list', async () => {
    const thread = new ListThread({ maxHeapMb: 24 });
    onClose(() => thread.end());
    const pageOf = (number: number) => {
      const result = Array.from({ length: 4000 }, (_, index) => ({
        accountId: `${number}-${index}`,
        friendlyName: 'n'.repeat(4000),
      }));
      return bodyWith(result);
    };
    const error = await rejectionOf(async () => {
      for (let number = 1; number <= 6; number++) await thread.takePage(number, pageOf(number));
      await thread.finish();
    });
    expect([error.code, error.owner, error.detail]).toEqual([
      'overloaded',
      'operator',
      expect.stringMatching(/Give it more memory/),
    ]);
  });

  it('whose query needs too much memory is lost, because its list is too large', async () => {
    const thread = start(`
      if (call.method !== 'document') parentPort.postMessage({ id: call.id, result: 1 });
      else { const all = []; for (;;) all.push(new Array(1e6).fill({})); }`);
    expect(await thread.finish()).toBe(1);
    expect((await rejectionOf(() => thread.document(ALL, FACTS, STAYS))).code).toBe('overloaded');
    expect((await thread.lost).code).toBe('overloaded');
  });

  it.each([
    ['retired', (thread: ListThread) => thread.retire()],
    ['ended', (thread: ListThread) => thread.end()],
  ])('does not count as lost if it was %s', async (_how, end) => {
    const thread = await listOf('a');
    void end(thread);
    await until(() => thread.hasEnded);
    expect(await Promise.race([thread.lost, 'not lost'])).toBe('not lost');
  });

  it('can be terminated while it sorts slow names', async () => {
    const thread = start();
    const names = Array.from({ length: 20_000 }, (_, index) => ({
      accountId: `a-${index}`,
      friendlyName: '\u0f71'.repeat(99) + String(index),
    }));
    await thread.takePage(1, bodyWith(names));
    const sorting = rejectionOf(() => thread.finish());
    await thread.end();
    expect(await sorting).toBeInstanceOf(ListEnded);
  });
});

describe('the heap limit of a list', () => {
  it.each<[string, number, number]>([
    ['half of what a small container leaves', 1024, 312],
    ['at least 48 MB', 128, 48],
    ['at most 1024 MB', 16_384, 1024],
  ])('is %s', (_what, memoryMb, limitMb) => {
    expect(heapLimitMb(memoryMb)).toBe(limitMb);
  });
});

describe('room for the next list', () => {
  it('comes from replaced lists, oldest first, until it is enough; the cached one stays', async () => {
    const lists = [await listOf('a'), await listOf('a'), await listOf('a')];
    const [oldest, old, cached] = lists as [ListThread, ListThread, ListThread];
    // downloads keep both
    for (const list of [oldest, old]) {
      const download = list.pieces({ kind: 'ndjson', selection: SELECTION }, FACTS, STAYS);
      await download.next();
      list.retire();
    }
    await ListThread.makeRoom();
    expect(lists.map(({ hasEnded }) => hasEnded)).toEqual([false, false, false]);
    await ListThread.makeRoom(2.5 * (await oldest.heapMb()));
    expect(lists.map(({ hasEnded }) => hasEnded)).toEqual([true, false, false]);
    await ListThread.makeRoom(0);
    expect(lists.map(({ hasEnded }) => hasEnded)).toEqual([true, true, false]);
    expect(await idsOf(cached)).toEqual(['a']);
  });
});
