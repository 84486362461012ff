import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/support/refusal-of.js';
import { BuilderThread, type BuilderThreadOptions } from './builder-thread.js';
import { Snapshot } from './snapshot.js';

const threads: BuilderThread[] = [];
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.onApplicationShutdown();
});

function start(options?: BuilderThreadOptions): BuilderThread {
  const thread = new BuilderThread(options);
  threads.push(thread);
  return thread;
}

/** A thread that does what `script` says with each order, in place of the real one. */
function startOther(script: string, answerWithinMs = 60_000): BuilderThread {
  const program = `const { parentPort } = require('node:worker_threads');\nparentPort.on('message', (order) => {${script}});`;
  return start({ program, answerWithinMs, maxHeapMb: 32 });
}

const page = (...ids: string[]) =>
  Buffer.from(JSON.stringify({ result: ids.map((accountId) => ({ accountId })), pageInfo: { rowCount: ids.length } }));
/** Of a thread of this process; undefined when it has ended. */
function nicenessOf(thread: string | number): number | undefined {
  try {
    // after the name, which may hold anything
    const [, fields = ''] = /\) (.*)/.exec(readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')) ?? [];
    return Number(fields.split(' ')[16]);
  } catch {
    return undefined;
  }
}
const HEADER = { asOf: '2026-11-21T08:00:00.000Z', complete: true };
const TIMES = { askedAt: { wall: 0, monotonic: 0 }, durationMs: 0 };

describe('the thread that makes snapshots', () => {
  it('refuses pages of a reading that is over: they must not get into the next one', async () => {
    const thread = start();
    const failed = thread.begin();
    await failed.takePage(1, [page('a')]);
    thread.drop();
    expect(await refusalOf(() => failed.takePage(2, [page('b')]))).toMatchObject({ code: 'internal-error' });
    const next = thread.begin();
    expect(await refusalOf(() => failed.takePage(3, [page('c')]))).toMatchObject({ code: 'internal-error' });
    expect(await refusalOf(() => failed.finish(HEADER))).toMatchObject({ code: 'internal-error' });
    await next.takePage(1, [page('d')]);
    expect(new Snapshot(await next.finish(HEADER), TIMES).size).toBe(1);
  });

  it('takes pages and gives a snapshot of them', async () => {
    const build = start().begin();
    expect(await build.takePage(1, [page('b', 'a')])).toEqual({
      accounts: 2,
      added: 2,
      rowCount: 2,
      echoedSize: null,
      repeatsLast: false,
      drift: [],
    });
    expect(await build.takePage(2, [page('c', 'a')])).toMatchObject({ accounts: 2, added: 1 });
    const snapshot = new Snapshot(await build.finish(HEADER), TIMES);
    expect(Array.from({ length: snapshot.size }, (_, at) => snapshot.account(at).id)).toEqual(['a', 'b', 'c']);
    expect(snapshot).toMatchObject(HEADER);
  });

  it('gives way to the threads that answer callers, where the system knows priorities of threads', async () => {
    if (process.platform !== 'linux') return;
    await start()
      .begin()
      .takePage(1, [page('a')]);
    const others = readdirSync('/proc/self/task').map(nicenessOf);
    const own = nicenessOf(process.pid) as number;
    expect(others).toContain(Math.min(own + 5, 19));
  });

  it('reports the code of a page that cannot be read, and goes on', async () => {
    const build = start().begin();
    const { code, detail } = await refusalOf(() => build.takePage(1, [Buffer.from('{"result":[{"accountId":{}}]}')]));
    expect([code, detail]).toEqual([
      'bank-response-invalid',
      'In the account list, result[0].accountId is not a text.',
    ]);
    expect(await build.takePage(1, [page('a')])).toMatchObject({ added: 1 });
  });

  it('drops what was begun when it begins again', async () => {
    const thread = start();
    await thread.begin().takePage(1, [page('old')]);
    const build = thread.begin();
    await build.takePage(1, [page('new')]);
    const snapshot = new Snapshot(await build.finish(HEADER), TIMES);
    expect([snapshot.size, snapshot.positionOf('new'), snapshot.positionOf('old')]).toEqual([1, 0, -1]);
  });

  it('keeps the bytes of the caller where they share a buffer with others', async () => {
    const build = start().begin();
    const shared = Buffer.concat([Buffer.from('x'), page('a')]);
    await build.takePage(1, [shared.subarray(1)]);
    expect(shared.length).toBeGreaterThan(0);
    expect(shared.toString()).toContain('accountId');
  });
});

describe('a thread that', () => {
  it.each([
    ['dies', 'if (order.id) process.exit(3)'],
    ['throws', 'if (order.id) throw new Error("no such thing")'],
    [
      'needs more memory than there is',
      'if (order.id) { const all = []; for (;;) all.push(new Array(1e6).fill({})); }',
    ],
  ])(
    '%s fails what it was asked, and is replaced',
    async (_name, script) => {
      const thread = startOther(script);
      const build = thread.begin();
      const both = [build.takePage(1, [page('a')]), build.takePage(2, [page('b')])];
      for (const one of both) expect((await refusalOf(() => one)).code).toBe('internal-error');
      // what was begun is lost with it
      expect((await refusalOf(() => build.takePage(3, [page('c')]))).code).toBe('internal-error');
      expect((await refusalOf(() => thread.begin().takePage(1, [page('a')]))).code).toBe('internal-error');
    },
    60_000,
  );

  it('hangs is ended, and replaced', async () => {
    const thread = startOther('if (order.id) for (;;);', 200);
    const { code, detail } = await refusalOf(() => thread.begin().takePage(1, [page('a')]));
    expect([code, detail]).toEqual([
      'internal-error',
      'The thread that builds snapshots did not answer; it is replaced.',
    ]);
  });

  it('is not started again after the stop', async () => {
    const thread = start();
    await thread.begin().takePage(1, [page('a')]);
    await thread.onApplicationShutdown();
    expect((await refusalOf(async () => thread.begin().takePage(1, [page('a')]))).code).toBe('stopping');
  });

  it('is ended at the stop: those who wait get an error', async () => {
    const thread = startOther('');
    const waiting = refusalOf(() => thread.begin().takePage(1, [page('a')]));
    await thread.onApplicationShutdown();
    expect((await waiting).code).toBe('stopping');
  });
});
