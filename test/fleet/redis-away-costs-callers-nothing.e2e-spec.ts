import { afterEach, describe, expect, it } from '@jest/globals';
import { TIMED_OUT } from '../../src/time/deadline.js';
import { TimeBudget } from '../../src/sharing/time-budget.js';
import { closeAll } from '../support/closing.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { closeGateways, type Gateway } from '../support/gateway.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { startRedis, type Redis } from '../support/redis.js';
import { startRawServer } from '../support/servers.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
  await closeAll();
});

/** Keys of every kind under the names in use. */
function plantGarbage(redis: Redis): void {
  const keys = redis.cli('KEYS', '*').split('\n').filter(Boolean);
  const names = new Set(keys.map((key) => key.replace(/:[^:]*(:\d+)*$/, '')));
  const kinds: ((key: string) => string[])[] = [
    (key) => ['SET', key, '1'.repeat(100_000)],
    (key) => ['RPUSH', key, 'x'],
    (key) => ['SET', key, '9007199254740992 3 x'],
    (key) => ['HSET', key, 'a', 'b'],
  ];
  let kind = 0;
  for (const name of [...names].flatMap((each) => [each, each.replace(/:[^:]*$/, '')])) {
    for (const part of ['lease', 'fence', 'record', 'wait', 'instances']) {
      const key = `${name}:${part}`;
      redis.cli('DEL', key);
      redis.cli(...(kinds[kind++ % kinds.length] as (key: string) => string[])(key));
    }
  }
}

interface Fault {
  breaks(redis: Redis): void;
  heals?(redis: Redis): void;
  /** Where it is told as more than a moment. */
  readonly reason?: RegExp;
  /** Where what lies there is told to be ignored. */
  readonly refused?: true;
}

/** What befalls Redis, and how it is well again. */
const FAULTS: [string, Fault][] = [
  [
    'hangs (stopped)',
    {
      breaks: (redis) => redis.signal('SIGSTOP'),
      heals: (redis) => redis.signal('SIGCONT'),
      reason: /timeout|Socket/i,
    },
  ],
  [
    'is full',
    {
      breaks: (redis) => redis.cli('CONFIG', 'SET', 'maxmemory', '1'),
      heals: (redis) => redis.cli('CONFIG', 'SET', 'maxmemory', '0'),
      reason: /OOM/,
    },
  ],
  [
    'is read-only (a replica)',
    {
      breaks: (redis) => redis.cli('REPLICAOF', '127.0.0.1', '1'),
      heals: (redis) => redis.cli('REPLICAOF', 'NO', 'ONE'),
      reason: /READONLY|MASTERDOWN/,
    },
  ],
  [
    'denies everything',
    {
      breaks: (redis) => redis.cli('ACL', 'SETUSER', 'gateway', '-@all'),
      heals: (redis) => redis.cli('ACL', 'SETUSER', 'gateway', '+@all'),
      reason: /NOPERM/,
    },
  ],
  ['has lost all it had', { breaks: (redis) => redis.cli('FLUSHALL') }],
  ['holds garbage in every key', { breaks: plantGarbage, refused: true }],
];

(hasRedis() ? describe : describe.skip)('a Redis that', () => {
  it.each(FAULTS)('%s costs no caller an error, nor 300 ms', async (_what, { breaks, heals, reason, refused }) => {
    const redis = await startRedis({
      credentials: 'gateway:hunter2-redis@',
      config: ['user default on nopass ~* &* +@all', 'user gateway on >hunter2-redis ~* &* +@all'],
    });
    const bank = await startPretendBank();
    bank.onAccounts = slowly(20);
    const gateways = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' });
    // the ms in which this process was held up by others do not count
    const call = async (gateway: Gateway, withinMs = 10_000) => {
      const answer = await new TimeBudget(withinMs).within(gateway.get('/api/v1/accounts'));
      return answer === TIMED_OUT ? 'late' : answer.status;
    };
    for (const gateway of gateways) expect(await call(gateway)).toBe(200);
    await until(() => redis.cli('EXISTS', ...redis.cli('KEYS', '*:lease').split('\n')).startsWith('0'));

    breaks(redis);
    const began = performance.now();
    while (performance.now() - began < 2000) {
      // 300 ms, and what the call itself takes on a busy machine
      for (const gateway of gateways) expect(await call(gateway, 300 + 500)).toBe(200);
    }
    if (reason) {
      for (const gateway of gateways) {
        const told = gateway.events('sharing.unavailable');
        expect(told).toHaveLength(1);
        expect(told[0]?.['reason']).toMatch(reason);
        expect(await sharingOf(gateway)).toMatchObject({ status: 'degraded', state: 'unavailable', owner: 'operator' });
        expect((await gateway.get('/health')).json.status).toBe('degraded');
        expect((await gateway.get('/health/ready')).status).toBe(200);
      }
    }

    if (refused) expect(gateways.some((gateway) => gateway.events('sharing.refused').length > 0)).toBe(true);

    heals?.(redis);
    for (const gateway of gateways) {
      await until(async () => {
        expect(await call(gateway)).toBe(200);
        return (await sharingOf(gateway)).state === 'fleet';
      }, 10_000);
      // a busy machine may make it look slow for another moment
      expect(gateway.events('sharing.recovered')).toHaveLength(gateway.events('sharing.unavailable').length);
    }
    // nobody was told the password
    for (const gateway of gateways) expect(gateway.lines.join('')).not.toContain('hunter2');
    // and they share again
    const before = asked(bank).readings;
    bank.onAccounts = slowly(400);
    await Promise.all(gateways.map((gateway) => call(gateway)));
    expect(asked(bank).readings - before).toBe(1);
  });

  it('is killed, and started again: the same', async () => {
    const [bank, first] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(20);
    const gateways = await startFleet(2, bank, first, { SNAPSHOT_FRESH_MS: '0' });
    for (const gateway of gateways) await gateway.get('/api/v1/accounts');
    first.signal('SIGKILL');
    for (let round = 0; round < 5; round += 1) {
      for (const gateway of gateways) expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    }
    await until(() => gateways.every((gateway) => gateway.events('sharing.unavailable').length === 1));
    await startRedis({ port: first.port });
    await until(async () => {
      const states = await Promise.all(gateways.map(async (gateway) => (await sharingOf(gateway)).state));
      return states.every((state) => state === 'fleet');
    }, 10_000);
    for (const gateway of gateways) expect(gateway.events('sharing.recovered')).toHaveLength(1);
  });

  it.each<[string, (port: number) => Promise<string>]>([
    ['is not there at the start', async (port) => `redis://127.0.0.1:${port}`],
    ['is mute from the start', async () => `redis://127.0.0.1:${(await startRawServer()).port}`],
    [
      'speaks nonsense',
      async () => {
        const { port } = await startRawServer((socket) => {
          socket.on('error', () => undefined);
          socket.on('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n*3\r\n$-7\r\n:x\r\n'));
        });
        return `redis://127.0.0.1:${port}`;
      },
    ],
  ])('%s is told of once, and callers are served', async (_what, toUrl) => {
    const bank = await startPretendBank();
    bank.onAccounts = slowly(0);
    const [gateway] = await startFleet(1, bank, { env: { REDIS_URL: await toUrl(1) } });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    expect(gateway.events('sharing.unavailable')).toHaveLength(1);
    expect(await sharingOf(gateway)).toMatchObject({ state: 'unavailable', instances: 1 });
  });
});
