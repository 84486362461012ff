import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { onClose } from '../../test/support/closing.js';
import { refusalOf } from '../../test/support/refusal-of.js';
import { until } from '../../test/support/until.js';
import { accountsOf } from '../../test/support/sample-snapshots.js';
import { BuilderThread } from './builder-thread.js';
import { Snapshot } from './snapshot.js';

/** A thread whose program runs `script` for each order. */
function start(script?: string): BuilderThread {
  const program = `const { parentPort } = require('node:worker_threads');\nparentPort.on('message', () => {${script}});`;
  const thread = script === undefined ? new BuilderThread() : new BuilderThread(program, 32);
  onClose(() => thread.end());
  return thread;
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
const idsOf = (snapshot: Snapshot) => accountsOf(snapshot).map(({ id }) => id);

describe('the thread that builds a snapshot', () => {
  it('keeps nothing of a snapshot that it has returned', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const thread = start();
    const build = async () => {
      await thread.takePage(page(1, 'a'));
      return new WeakRef(await thread.finish(HEADER));
    };
    const earlier = [await build(), await build()];
    await build();
    await until(() => {
      collect();
      return earlier.every((each) => each.deref() === undefined);
    });
  });

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
    ['dies', 'process.exit(3)', 'internal-error'],
    ['throws', 'throw new Error("no such thing")', 'internal-error'],
    ['needs too much memory', 'const all = []; for (;;) all.push(new Array(1e6).fill({}));', 'bank-response-invalid'],
    ['is ended', '', 'internal-error'],
  ])(
    'because it %s fails the page and all later orders',
    async (_name, script, code) => {
      const thread = start(script);
      if (script === '') setImmediate(() => void thread.end());
      expect((await refusalOf(() => thread.takePage(page(1, 'a')))).code).toBe(code);
      expect((await refusalOf(() => thread.finish(HEADER))).code).toBe(code);
    },
    60_000,
  );
});
