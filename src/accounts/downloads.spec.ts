import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { orAborted } from '../time/deadline.js';
import { Downloads } from './downloads.js';

const WAIT_MS = 15_000;
const MOST = 8;

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] }));
afterEach(() => void jest.useRealTimers());

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Buffer.alloc(1000);
}

async function* one(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x');
}

async function fill(downloads: Downloads, count = MOST): Promise<Readable[]> {
  const signal = new AbortController().signal;
  return Promise.all(Array.from({ length: count }, () => downloads.open(endless, signal, WAIT_MS)));
}

describe('downloads', () => {
  it('wait while 8 are running, and start when one has ended', async () => {
    const downloads = new Downloads();
    const [first] = await fill(downloads);
    const next = downloads.open(one, new AbortController().signal, WAIT_MS);
    const begun = jest.fn();
    void next.then(begun);
    await jest.advanceTimersByTimeAsync(WAIT_MS / 2);
    expect(begun).not.toHaveBeenCalled();
    first?.destroy();
    expect(await (await next).toArray()).toEqual([Buffer.from('x')]);
  });

  it('are rejected if none ends in time, and the slot of a caller who left is not lost', async () => {
    const downloads = new Downloads();
    const running = await fill(downloads);
    const rejection = rejectionOf(() => downloads.open(endless, new AbortController().signal, WAIT_MS));
    await jest.advanceTimersByTimeAsync(WAIT_MS);
    expect(await rejection).toMatchObject({
      code: 'overloaded',
      status: 503,
      detail: '8 downloads are already running.',
    });
    for (const stream of running) stream.destroy();
    expect(await fill(downloads)).toHaveLength(MOST);
  });

  it('release their memory when they are rejected, even if none has ended', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const downloads = new Downloads();
    const running = await fill(downloads);
    const reject = async () => {
      const open = () => endless();
      const rejection = rejectionOf(() => downloads.open(open, new AbortController().signal, WAIT_MS));
      await jest.advanceTimersByTimeAsync(WAIT_MS);
      await rejection;
      return new WeakRef(open);
    };
    const rejected = [await reject(), await reject()];
    await turn();
    collect();
    expect(rejected.map((each) => each.deref())).toEqual([undefined, undefined]);
    expect(running.filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it('release a slot that they get just as their caller leaves', async () => {
    const downloads = new Downloads();
    const running = await fill(downloads);
    const caller = new AbortController();
    const waiting = downloads.open(endless, caller.signal, WAIT_MS);
    waiting.catch(() => undefined);
    // the slot becomes free just as the wait for it ends
    running[0]?.once('close', () => queueMicrotask(() => caller.abort()));
    running[0]?.destroy();
    const [outcome] = await Promise.allSettled([waiting]);
    if (outcome.status === 'fulfilled') outcome.value.destroy();
    for (const stream of running) stream.destroy();
    expect(await fill(downloads)).toHaveLength(MOST);
  });

  it('release their slot when the first piece fails', async () => {
    const downloads = new Downloads();
    const failing = (): AsyncIterator<Uint8Array> => ({ next: () => Promise.reject(new Error('the list has ended')) });
    for (let time = 0; time < MOST + 1; time++) {
      const opening = downloads.open(failing, new AbortController().signal, WAIT_MS);
      await expect(opening).rejects.toThrow('the list has ended');
    }
    expect(await fill(downloads)).toHaveLength(MOST);
  });

  it('end, and release their slot, if their first piece is not ready in time', async () => {
    const downloads = new Downloads();
    const stuck = (signal: AbortSignal): AsyncIterator<Uint8Array> =>
      (async function* () {
        yield await orAborted(new Promise<Uint8Array>(() => undefined), signal);
      })();
    const { signal } = new AbortController();
    const all = Array.from({ length: MOST }, () => rejectionOf(() => downloads.open(stuck, signal, WAIT_MS)));
    await jest.advanceTimersByTimeAsync(WAIT_MS);
    expect(await Promise.all(all)).toEqual(Array(MOST).fill(expect.objectContaining({ code: 'overloaded' })));
    const next = fill(downloads);
    await jest.advanceTimersByTimeAsync(WAIT_MS);
    expect(await next).toHaveLength(MOST);
  });

  it('end at once when the caller leaves, running or waiting', async () => {
    const downloads = new Downloads();
    const caller = new AbortController();
    const stream = await downloads.open(endless, caller.signal, WAIT_MS);
    await fill(downloads, MOST - 1);
    const waiting = downloads.open(endless, caller.signal, WAIT_MS);
    waiting.catch(() => undefined);
    caller.abort();
    await once(stream, 'close');
    await expect(waiting).rejects.toBe(caller.signal.reason);
  });

  it('release their list if they are abandoned before they are read', async () => {
    let ended = 0;
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(1000);
      } finally {
        ended += 1;
      }
    };
    const downloads = new Downloads();
    const caller = new AbortController();
    const stream = await downloads.open(pieces, caller.signal, WAIT_MS);
    caller.abort();
    await once(stream, 'close');
    expect(ended).toBe(1);
  });

  it('are cut off after 120 s', async () => {
    const downloads = new Downloads();
    const stream = await downloads.open(endless, new AbortController().signal, WAIT_MS);
    const cut = once(stream, 'error');
    await jest.advanceTimersByTimeAsync(119_999);
    expect(stream.destroyed).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await cut).toEqual([expect.objectContaining({ message: 'the download took too long' })]);
  });
});
