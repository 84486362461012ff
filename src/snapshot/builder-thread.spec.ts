import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/support/refusal-of.js';
import { BuilderThread, type BuilderThreadOptions } from './builder-thread.js';
import { Snapshot } from './snapshot.js';

const threads: BuilderThread[] = [];
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.end();
});

function start(options?: BuilderThreadOptions): BuilderThread {
  const thread = new BuilderThread(options);
  threads.push(thread);
  return thread;
}

/** A thread that does what `script` says with each order, in place of the real one. */
function startOther(script: string, answerWithinMs = 60_000): BuilderThread {
  const program = `const { parentPort } = require('node:worker_threads');\nparentPort.on('message', () => {${script}});`;
  return start({ program, answerWithinMs, maxHeapMb: 32 });
}

const page = (number: number, ...ids: string[]) => ({
  number,
  body: Buffer.from(
    JSON.stringify({ result: ids.map((accountId) => ({ accountId })), pageInfo: { rowCount: ids.length } }),
  ),
});
const HEADER = { asOf: '2026-11-21T08:00:00.000Z', complete: true };
const finish = async (thread: BuilderThread) =>
  new Snapshot(await thread.finish(HEADER), { askedAt: { wall: 0, monotonic: 0 }, durationMs: 0 });
const idsOf = (snapshot: Snapshot) =>
  Array.from({ length: snapshot.size }, (_, position) => snapshot.account(position).id);

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

describe('the thread that builds a snapshot', () => {
  it('takes pages and returns a snapshot of them', async () => {
    const thread = start();
    expect(await thread.takePage(page(1, 'b', 'a'))).toEqual({
      accounts: 2,
      added: 2,
      rowCount: 2,
      echoedSize: null,
      drift: [],
    });
    expect(await thread.takePage(page(2, 'c', 'a'))).toMatchObject({ accounts: 2, added: 1 });
    const snapshot = await finish(thread);
    expect(idsOf(snapshot)).toEqual(['a', 'b', 'c']);
    expect(snapshot).toMatchObject(HEADER);
  });

  it('begins anew with page 1', async () => {
    const thread = start();
    await thread.takePage(page(1, 'old'));
    await thread.takePage(page(1, 'new'));
    expect(idsOf(await finish(thread))).toEqual(['new']);
  });

  it('gives way to the threads that answer callers, where the system knows priorities of threads', async () => {
    if (process.platform !== 'linux') return;
    await start().takePage(page(1, 'a'));
    const others = readdirSync('/proc/self/task').map(nicenessOf);
    const own = nicenessOf(process.pid) as number;
    expect(others).toContain(Math.min(own + 5, 19));
  });

  it('returns the error of a page that cannot be read', async () => {
    const wrong = { number: 1, body: Buffer.from('{"result":[{"accountId":{}}]}') };
    expect(await refusalOf(() => start().takePage(wrong))).toMatchObject({
      code: 'bank-response-invalid',
      detail: 'In the account list, result[0].accountId is not a string.',
    });
  });

  it('leaves the caller bytes that share a buffer with others', async () => {
    const shared = Buffer.concat([Buffer.from('x'), page(1, 'a').body]);
    await start().takePage({ number: 1, body: shared.subarray(1) });
    expect(shared.toString()).toContain('accountId');
  });
});

describe('a thread that fails', () => {
  it.each([
    ['dies', 'process.exit(3)', 'ended'],
    ['throws', 'throw new Error("no such thing")', 'ended'],
    ['needs too much memory', 'const all = []; for (;;) all.push(new Array(1e6).fill({}));', 'ended'],
    ['is ended', '', 'ended'],
    ['hangs', 'for (;;);', 'did not answer'],
  ])(
    'because it %s fails the page and whatever follows',
    async (_name, script, what) => {
      const thread = startOther(script, what === 'ended' ? 60_000 : 200);
      if (script === '') setImmediate(() => void thread.end());
      const detail = expect.stringContaining(`builds the snapshot ${what}`);
      expect(await refusalOf(() => thread.takePage(page(1, 'a')))).toMatchObject({ code: 'internal-error', detail });
      expect(await refusalOf(() => thread.finish(HEADER))).toMatchObject({ code: 'internal-error', detail });
    },
    60_000,
  );
});
