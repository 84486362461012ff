import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { TIMED_OUT, within } from '../../src/time/deadline.js';
import { bankForFile } from '../support/bank-for-file.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { type Gateway } from '../support/gateway.js';
import { startRedis, type Redis } from '../support/redis.js';
import { startRawServer } from '../support/servers.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

/** Less than a slow Redis takes, and more than a call takes on a busy machine. */
const ANY_CALL_MS = 10_000;
/** As in production (docs/fleet.md). */
const REDIS_WAIT_MS = 200;

const bank = await bankForFile();

const CONFIG = {
  credentials: 'gateway:hunter2-redis@',
  config: ['user default on nopass ~* &* +@all', 'user gateway on >hunter2-redis ~* &* +@all'],
};

interface Scene {
  redis: Redis;
}

const FAULTS: [string, breaks: (scene: Scene) => unknown, heals: (scene: Scene) => unknown, reason: RegExp][] = [
  [
    'is full',
    ({ redis }) => redis.cli('CONFIG', 'SET', 'maxmemory', '1'),
    ({ redis }) => redis.cli('CONFIG', 'SET', 'maxmemory', '0'),
    /OOM/,
  ],
  [
    'is read-only (a replica)',
    ({ redis }) => redis.cli('REPLICAOF', '127.0.0.1', '1'),
    ({ redis }) => redis.cli('REPLICAOF', 'NO', 'ONE'),
    /READONLY|MASTERDOWN/,
  ],
  [
    'denies access',
    ({ redis }) => redis.cli('ACL', 'SETUSER', 'gateway', '-@all'),
    ({ redis }) => redis.cli('ACL', 'SETUSER', 'gateway', '+@all'),
    /NOPERM/,
  ],
  [
    'hangs (stopped)',
    ({ redis }) => redis.signal('SIGSTOP'),
    ({ redis }) => redis.signal('SIGCONT'),
    /timeout|Socket/i,
  ],
  [
    'is killed, and started again empty',
    ({ redis }) => redis.signal('SIGKILL'),
    async (scene) => (scene.redis = await startRedis({ ...CONFIG, port: scene.redis.port })),
    /Socket|ECONN|not-connected/,
  ],
];

/** Forwards to a port of this machine, each piece after a delay. Returns its port. */
async function startDelayingRelay(port: number, delayMs: number): Promise<number> {
  const relay = await startRawServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (piece) => void setTimeout(() => to.write(piece), delayMs));
      from.on('close', () => to.destroy()).on('error', () => undefined);
    }
  });
  return relay.port;
}

/** The status of a call, or 'late'. */
async function call(gateway: Gateway, withinMs = ANY_CALL_MS): Promise<number | 'late'> {
  const answer = await within(gateway.get('/api/v1/accounts'), withinMs);
  return answer === TIMED_OUT ? 'late' : answer.status;
}

async function recovers(gateways: readonly Gateway[]): Promise<void> {
  for (const gateway of gateways) {
    await until(async () => (await sharingOf(gateway)).state === 'fleet');
    expect(gateway.events('sharing.recovered')).toHaveLength(gateway.events('sharing.unavailable').length);
  }
}

(hasRedis() ? describe : describe.skip)('a Redis that', () => {
  it('is full, read-only, hanging, killed or denies access costs no caller an error or a wait', async () => {
    const scene: Scene = { redis: await startRedis(CONFIG) };
    const settings = { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' };
    const gateways = await startFleet(2, bank, scene.redis, settings, [], REDIS_WAIT_MS);
    for (const [what, breaks, heals, reason] of FAULTS) {
      bank.onAccounts = slowly(0);
      await until(() => !scene.redis.cli('KEYS', '*').includes(':lock'));
      // Redis may have seemed slow before on a busy machine
      const earlier = new Map(gateways.map((gateway) => [gateway, gateway.events('sharing.unavailable').length]));
      await recovers(gateways);
      await breaks(scene);
      const hasNoticed = (gateway: Gateway) =>
        gateway.events('sharing.unavailable').length > (earlier.get(gateway) ?? 0);
      const askBoth = async () => {
        for (const gateway of gateways) expect([what, await call(gateway)]).toEqual([what, 200]);
      };
      while (!gateways.every(hasNoticed)) await askBoth();
      // calls continue after both have noticed
      await askBoth();
      for (const gateway of gateways) {
        const logged = gateway.events('sharing.unavailable').slice(earlier.get(gateway));
        const named = { code: 'sharing-unavailable', owner: 'operator' };
        expect(logged).toMatchObject([{ ...named, level: 'warn', reason: expect.stringMatching(reason) }]);
        const { json } = await gateway.get('/health');
        expect(json.status).toBe('degraded');
        expect(json.details.sharing).toMatchObject({ ...named, status: 'degraded', state: 'unavailable' });
        expect((await gateway.get('/metrics')).text).toContain('accounts_gateway_sharing_up 0\n');
        expect((await gateway.get('/health/ready')).status).toBe(200);
      }

      await heals(scene);
      await recovers(gateways);
      // then they share again; on a busy machine, Redis may still be slow for a moment
      bank.onAccounts = slowly(400);
      await until(async () => {
        const before = asked(bank).refreshes;
        await Promise.all(gateways.map((gateway) => call(gateway)));
        return asked(bank).refreshes - before === 1;
      });
    }
    for (const gateway of gateways) expect(gateway.lines.join('')).not.toContain('hunter2');
  });

  it.each([
    [450, 'unavailable'],
    [100, 'fleet'],
  ] as const)('is %i ms away each way, of 2000 ms, has one steady verdict: %s', async (delayMs, state) => {
    const url = `redis://127.0.0.1:${await startDelayingRelay((await startRedis()).port, delayMs)}`;
    bank.onAccounts = slowly(300);
    const fleet = await startFleet(2, bank, { env: { REDIS_URL: url } }, { SNAPSHOT_FRESH_MS: '0' }, [], 2000);
    for (let round = 0; round < 4; round += 1) {
      const answers = await Promise.all(fleet.map((gateway) => gateway.get('/api/v1/accounts')));
      expect(answers).toMatchObject([{ status: 200 }, { status: 200 }]);
    }
    for (const gateway of fleet) {
      expect(await sharingOf(gateway)).toMatchObject({ state });
      expect(gateway.events('sharing.unavailable')).toHaveLength(state === 'fleet' ? 0 : 1);
      expect(gateway.events('sharing.recovered')).toEqual([]);
    }
  });

  const startServer = async (onData: (socket: Socket, data: Buffer) => void) => {
    const { port } = await startRawServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data: Buffer) => onData(socket, data));
    });
    return `redis://127.0.0.1:${port}`;
  };

  it.each<[string, () => Promise<string>]>([
    ['is missing at the start', async () => 'redis://127.0.0.1:1'],
    ['is mute from the start', () => startServer(() => undefined)],
    ['answers nonsense', () => startServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))],
    [
      'answers OK to everything',
      () =>
        startServer((socket, data) => {
          const commands = data.toString('latin1').match(/^\*\d/gm)?.length ?? 0;
          socket.write('+OK\r\n'.repeat(commands));
        }),
    ],
  ])('%s is reported once, and callers are served', async (_what, toUrl) => {
    const [gateway] = await startFleet(
      1,
      bank,
      { env: { REDIS_URL: await toUrl() } },
      { SNAPSHOT_FRESH_MS: '0' },
      [],
      REDIS_WAIT_MS,
    );
    for (let round = 0; round < 2; round += 1) expect(await call(gateway)).toBe(200);
    expect(gateway.events('sharing.unavailable')).toHaveLength(1);
    expect(gateway.events('sharing.recovered')).toEqual([]);
    expect(await sharingOf(gateway)).toMatchObject({ state: 'unavailable', lastStoredAt: null, lastTakenAt: null });
  });
});
