import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { countTurns } from '../../test/support/count-turns.js';
import { refusalOf } from '../../test/support/refusal-of.js';
import { Downloads, toStream } from './downloads.js';

const WAIT_MS = 15_000;
const MOST = 8;

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] }));
afterEach(() => void jest.useRealTimers());

function* endless() {
  for (;;) yield Buffer.alloc(1000);
}

async function fill(downloads: Downloads, count = MOST): Promise<Readable[]> {
  const signal = new AbortController().signal;
  return Promise.all(Array.from({ length: count }, () => downloads.open(endless(), signal, WAIT_MS)));
}

describe('downloads', () => {
  it('wait while 8 are running, and begin when one has ended', async () => {
    const downloads = new Downloads();
    const [first] = await fill(downloads);
    const next = downloads.open([Buffer.from('x')], new AbortController().signal, WAIT_MS);
    const begun = jest.fn();
    void next.then(begun);
    await jest.advanceTimersByTimeAsync(WAIT_MS - 1);
    expect(begun).not.toHaveBeenCalled();
    first?.destroy();
    expect(await (await next).toArray()).toEqual([Buffer.from('x')]);
  });

  it('are refused when none ends in time, and the slot of one that has left is not lost', async () => {
    const downloads = new Downloads();
    const running = await fill(downloads);
    const refusal = refusalOf(() => downloads.open(endless(), new AbortController().signal, WAIT_MS));
    await jest.advanceTimersByTimeAsync(WAIT_MS);
    expect(await refusal).toMatchObject({ code: 'overloaded', status: 503 });
    for (const stream of running) stream.destroy();
    expect(await fill(downloads)).toHaveLength(MOST);
  });

  it('that were refused are freed, and their snapshots with them, though none has ended', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const downloads = new Downloads();
    const running = await fill(downloads);
    const refuse = async () => {
      const parts = endless();
      const refusal = refusalOf(() => downloads.open(parts, new AbortController().signal, WAIT_MS));
      await jest.advanceTimersByTimeAsync(WAIT_MS);
      await refusal;
      return new WeakRef(parts);
    };
    const refused = [await refuse(), await refuse()];
    await turn();
    collect();
    expect(refused.map((each) => each.deref())).toEqual([undefined, undefined]);
    expect(running.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('of a caller who leaves end at once, running or waiting', async () => {
    const downloads = new Downloads();
    const caller = new AbortController();
    const stream = await downloads.open(endless(), caller.signal, WAIT_MS);
    await fill(downloads, MOST - 1);
    const waiting = refusalOf(() => downloads.open(endless(), caller.signal, WAIT_MS));
    caller.abort();
    await once(stream, 'close');
    expect((await waiting).code).toBe('request-timeout');
  });

  it('are cut off after 120 s', async () => {
    const downloads = new Downloads();
    const stream = await downloads.open(endless(), new AbortController().signal, WAIT_MS);
    const cut = once(stream, 'error');
    await jest.advanceTimersByTimeAsync(119_999);
    expect(stream.destroyed).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await cut).toEqual([expect.objectContaining({ message: 'the download took too long' })]);
  });
});

it('a long body yields to other work between its chunks', async () => {
  const parts = Array.from({ length: 100 }, () => Buffer.alloc(65_536));
  const { result, turns } = await countTurns(() => toStream(parts).toArray());
  expect(result).toHaveLength(100);
  expect(turns).toBeGreaterThanOrEqual(99);
});
