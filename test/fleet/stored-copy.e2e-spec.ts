import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { onClose } from '../support/closing.js';
import { type Gateway } from '../support/gateway.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { type Redis, startRedis } from '../support/redis.js';
import { listSample, PLANTED } from '../support/sample-accounts.js';
import { hasRedis, pathOf } from '../support/tools.js';
import { until } from '../support/until.js';

/** All commands that reach Redis, from MONITOR. */
function monitor(redis: Redis): () => string {
  const child = spawn(pathOf('redis-cli'), ['-h', '127.0.0.1', '-p', String(redis.port), 'MONITOR']);
  let sent = '';
  child.stdout.on('data', (chunk: Buffer) => (sent += chunk.toString('latin1')));
  onClose(async () => void child.kill('SIGKILL'));
  return () => sent;
}

/** A value as plain text, and in each of the three alignments of base64. */
function formsOf(value: string): Buffer[] {
  const base64 = ['', 'x', 'xx'].map((before) => Buffer.from(`${before}${value}`).toString('base64').slice(4, -4));
  return [value, ...base64].map((text) => Buffer.from(text));
}

(hasRedis() ? describe : describe.skip)('Redis', () => {
  it('shows no name, IBAN, amount, token, user, password or address in keys, values or commands', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis({ config: ['rdbcompression no'] })];
    const seen = monitor(redis);
    await until(() => seen().includes('OK'));
    bank.onAccounts = listSample(60);
    const [gateway] = await startFleet(1, bank, redis);
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    await until(() => redis.cli('KEYS', '*').includes(':snapshot'));
    // negative case: the search finds plain text
    redis.cli('SET', 'clear', `xx${Buffer.from(`y${PLANTED.iban}y`).toString('base64')}`);
    expect(formsOf(PLANTED.iban).some((form) => redis.everything().includes(form))).toBe(true);
    redis.cli('DEL', 'clear');
    const dump = redis.everything();
    expect(dump.length).toBeGreaterThan(20_000);
    const commands = seen();
    expect(commands).toContain('EVAL');
    const planted = [
      ...Object.values(PLANTED),
      'Nordlys Handel',
      'Operating account',
      'COBADEFFXXX',
      'CurrentBalance',
      bank.username,
      bank.password,
      new URL(bank.url).host,
      ...bank.tokens,
    ];
    for (const value of planted) {
      for (const form of formsOf(value)) {
        expect([value, dump.includes(form)]).toEqual([value, false]);
        expect([value, commands.includes(form.toString('latin1'))]).toEqual([value, false]);
      }
    }
    const keys = redis.cli('KEYS', '*').split('\n').filter(Boolean);
    expect(keys.filter((key) => !/^accounts-gateway:[0-9a-f]{16}:(snapshot|lock)$/.test(key))).toEqual([]);
    // every key expires: -1 would mean without expiry, -2 is already gone
    for (const key of keys) expect([key, redis.cli('PTTL', key).trim()]).not.toEqual([key, '-1']);
  });
});

/** An instance whose stored copy is fresh for a minute. `join` starts another instance. */
async function scene(count: number) {
  const [bank, redis] = [await startPretendBank(), await startRedis()];
  bank.onAccounts = slowly(0, count);
  const join = async () => (await startFleet(1, bank, redis, { SNAPSHOT_FRESH_MS: '60000' }))[0];
  const first = await join();
  await first.get('/api/v1/accounts');
  await until(async () => (await sharingOf(first)).lastStoredAt !== null);
  await until(() => !redis.cli('KEYS', '*').includes(':lock'));
  const key = redis.cli('KEYS', '*').trim();
  const read = () =>
    spawnSync(pathOf('redis-cli'), ['-p', String(redis.port), '--raw', 'GET', key]).stdout.subarray(0, -1);
  const set = (input: Uint8Array) =>
    void spawnSync(pathOf('redis-cli'), ['-p', String(redis.port), '-x', 'SET', key], { input });
  return { bank, redis, first, join, key, copy: read(), read, set };
}

type Scene = Awaited<ReturnType<typeof scene>>;

(hasRedis() ? describe : describe.skip)('a copy in Redis', () => {
  // sealing.spec.ts alters each part of the copy
  const ALTERED: [string, (here: Scene) => unknown][] = [
    ['damaged', ({ set }) => set(Buffer.from('x'))],
    ['foreign', ({ set, copy }) => set(copy.with(5, copy[5]! ^ 1))],
    // a list
    ['damaged', ({ redis, key }) => [redis.cli('DEL', key), redis.cli('RPUSH', key, 'x')]],
    ['too-large', ({ redis, key }) => redis.cli('SETRANGE', key, String(65 * 2 ** 20), 'x')],
  ];

  it('is ignored, logged once and overwritten if it cannot be used', async () => {
    const here = await scene(20);
    for (const [reason, alter] of ALTERED) {
      alter(here);
      const gateway = await here.join();
      const { status, json } = await gateway.get('/api/v1/accounts');
      expect([status, json.accounts.length]).toEqual([200, 20]);
      expect(gateway.events('sharing.refused')).toMatchObject([{ what: 'redis', reason, level: 'warn' }]);
      expect(gateway.events('sharing.unavailable')).toEqual([]);
      await until(async () => (await sharingOf(gateway)).lastStoredAt !== null);
      expect(here.read().length).toBe(here.copy.length);
    }
  });

  it('is neither served nor cached if an attacker has put back an older one; it is deleted when access is withdrawn', async () => {
    const here = await scene(3);
    const second = await here.join();
    here.bank.onAccounts = slowly(0, 5);
    /** Requests the bank's list, once no earlier refresh counts as current. */
    const askNow = async (gateway: Gateway) => {
      const { asOf } = (await gateway.get('/api/v1/accounts')).json.snapshot;
      await until(() => Date.now() - Date.parse(asOf) > 1000);
      return gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' });
    };
    expect((await askNow(second)).json.accounts).toHaveLength(5);
    await until(async () => (await sharingOf(second)).lastStoredAt !== null);
    here.set(here.copy);
    for (const header of [{}, { 'cache-control': 'max-age=59' }]) {
      expect((await second.get('/api/v1/accounts', header)).json.accounts).toHaveLength(5);
    }
    // a caller with no-cache causes a call to the bank
    expect((await askNow(here.first)).json.accounts).toHaveLength(5);
    expect(asked(here.bank).refreshes).toBe(3);
    here.bank.onAccounts = (_request, response) => response.writeHead(404).end();
    await askNow(here.first);
    await until(() => here.redis.cli('KEYS', '*').trim() === '');
  });

  it('is served at once, marked stale, by an instance that starts while the bank is unreachable', async () => {
    const here = await scene(3);
    here.bank.onToken = (_request, response) => response.writeHead(503).end();
    const [gateway] = await startFleet(1, here.bank, here.redis, { SNAPSHOT_FRESH_MS: '0' });
    const { status, json, headers } = await gateway.get('/api/v1/accounts');
    expect([status, json.accounts.length, json.snapshot.stale]).toEqual([200, 3, true]);
    expect(headers['cache-status']).toMatch(/; fwd=stale; ttl=(0|-\d+)/);
    expect((await gateway.get('/health/ready')).status).toBe(200);
    // the negative case: the bank rejects the token for a reason that the operator must fix
    here.bank.onToken = (_request, response) => response.writeHead(401).end();
    const [rejected] = await startFleet(1, here.bank, here.redis);
    expect((await rejected.get('/health/ready')).status).toBe(503);
    expect((await rejected.get('/api/v1/accounts')).json.accounts).toHaveLength(3);
  });
});

(hasRedis() ? it : it.skip)('a node of Redis Cluster is reported once as unsupported, and stays so', async () => {
  const [bank, redis] = [await startPretendBank(), await startRedis({ config: ['cluster-enabled yes'] })];
  const [gateway] = await startFleet(1, bank, redis, { SNAPSHOT_FRESH_MS: '0' });
  const connections = () => Number(/total_connections_received:(\d+)/.exec(redis.cli('INFO', 'stats'))?.[1]);
  const before = connections();
  await until(() => connections() > before + 5);
  expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  const reason = 'Redis Cluster is not supported (cluster)';
  expect(gateway.events('sharing.unavailable')).toMatchObject([{ reason }]);
  expect(gateway.events('sharing.recovered')).toEqual([]);
  expect((await sharingOf(gateway)).detail).toContain(reason);
});
