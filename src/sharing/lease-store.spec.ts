import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { closeAll, onClose } from '../../test/support/closing.js';
import { startRedis } from '../../test/support/redis.js';
import { hasRedis } from '../../test/support/tools.js';
import { SystemClock } from '../time/clock.js';
import { LeaseStore } from './lease-store.js';
import { RedisLink } from './redis-link.js';

afterEach(closeAll);

const LASTS_MS = 60_000;

/** What two instances have of one kind of work. */
async function scene() {
  const redis = await startRedis();
  const url = { read: () => redis.url } as never;
  const open = async (owner: string) => {
    const link = new RedisLink({ REDIS_URL: url, REDIS_KEY_PREFIX: 'x:' }, pino({ level: 'silent' }));
    onClose(async () => link.close());
    await link.connect(5000);
    return new LeaseStore({ link, key: 'x:fleet:work', topic: 'fleet work', owner, clock: new SystemClock() });
  };
  const [one, other] = [await open('aa'), await open('bb')];
  const take = async (store: LeaseStore) => (await store.enter(true, 1000)).fence;
  const look = async () => {
    const { result, wait } = await other.enter(false, 1000);
    return { fence: result?.fence ?? null, waits: wait.length > 0 };
  };
  return { one, other, take, look, loseLease: () => redis.cli('DEL', one.leaseKey) };
}

const record = Buffer.from('sealed');

(hasRedis() ? describe : describe.skip)('a writer whose lease was taken over', () => {
  it('is refused when a newer result is there', async () => {
    const { one, other, take, look, loseLease } = await scene();
    const late = await take(one);
    loseLease();
    const fence = await take(other);
    expect(fence).toBeGreaterThan(late);
    await other.commit(fence, record, 2, LASTS_MS);
    expect(await one.commit(late, record, 3, LASTS_MS)).toEqual({ fence: late, pieces: 3 });
    expect(await look()).toEqual({ fence, waits: false });
  });

  it('is refused as well when the newer one is still being made, or was a failure that took the older away', async () => {
    const { one, other, take, look, loseLease } = await scene();
    const late = await take(one);
    loseLease();
    const fence = await take(other);
    expect(await one.commit(late, record, 3, LASTS_MS)).toEqual({ fence: late, pieces: 3 });
    expect(await look()).toEqual({ fence: null, waits: false });
    await other.fail(fence, Buffer.from('wait'), LASTS_MS, true);
    expect(await one.commit(late, record, 3, LASTS_MS)).toEqual({ fence: late, pieces: 3 });
    expect(await look()).toEqual({ fence: null, waits: true });
  });

  it('its twin: one whose lease has only run out stores its result, which ends the wait', async () => {
    const { one, other, take, look, loseLease } = await scene();
    const before = await take(other);
    await other.fail(before, Buffer.from('wait'), LASTS_MS, false);
    const fence = await take(one);
    loseLease();
    expect(await one.commit(fence, record, 3, LASTS_MS)).toEqual({ fence: 0, pieces: 0 });
    expect(await look()).toEqual({ fence, waits: false });
  });
});

describe('who waits for an announcement', () => {
  const announce = async (...texts: string[]) => {
    const link = Object.assign(new EventEmitter(), { up: true });
    const parts = { key: 'x:fleet:work', topic: 'fleet work', owner: 'aa', clock: new SystemClock() };
    let heard = false;
    const waiting = new LeaseStore({ link: link as never, ...parts }).announced().then(() => (heard = true));
    for (const text of texts) link.emit('announcement', text);
    await turn();
    const before = heard;
    await waiting;
    return [before, link.eventNames()];
  };

  it('hears it behind one of other work in the same moment', async () => {
    expect(await announce('fleet other done', 'fleet work done')).toEqual([true, []]);
  });

  it('its twin: goes on waiting after one of other work, until it is time to look', async () => {
    expect(await announce('fleet other done', 'fleet workers done')).toEqual([false, []]);
  });
});
