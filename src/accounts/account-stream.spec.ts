import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createAccountStream } from './account-stream.js';
import { account, balance, snapshotOf } from './sample-account.test-support.js';

const many = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    account({ id: String(index), name: `Löhne ${index}`, balances: [balance()] }),
  );
const all = (count: number) => Uint32Array.from({ length: count }, (_, index) => index);

afterEach(() => {
  jest.useRealTimers();
});

describe('a stream of accounts', () => {
  it('gives every one, plain or compressed', async () => {
    const snapshot = await snapshotOf(many(250));
    const positions = all(250);
    const plain = Buffer.concat(await createAccountStream(snapshot, positions, 'ndjson', 'identity').toArray());
    expect(plain.toString()).toBe(snapshot.accounts.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const zipped = Buffer.concat(await createAccountStream(snapshot, positions, 'ndjson', 'gzip').toArray());
    expect(gunzipSync(zipped).equals(plain)).toBe(true);
    const packed = Buffer.concat(await createAccountStream(snapshot, positions, 'ndjson', 'br').toArray());
    expect(brotliDecompressSync(packed).equals(plain)).toBe(true);
  });

  it('makes no more than is read', async () => {
    const snapshot = await snapshotOf(many(5000));
    let made = 0;
    const watched = {
      accounts: new Proxy(snapshot.accounts, { get: (of, key) => ((made += 1), Reflect.get(of, key)) }),
      asOf: '',
    };
    const stream = createAccountStream(watched as unknown as typeof snapshot, all(5000), 'ndjson', 'identity');
    await once(stream, 'readable');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(1000);
    stream.destroy();
    await once(stream, 'close');
    const after = made;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(made).toBe(after);
  });

  it('ends when nothing is read for a minute', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const stream = createAccountStream(await snapshotOf(many(5000)), all(5000), 'ndjson', 'gzip');
    const failed = once(stream, 'error');
    jest.advanceTimersByTime(61_000);
    expect(String(await failed)).toContain('nothing was read for a minute');
    expect(jest.getTimerCount()).toBe(0);
  });
});
