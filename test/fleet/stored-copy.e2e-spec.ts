import { spawn, spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { onClose } from '../support/closing.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { type Redis, startRedis } from '../support/redis.js';
import { listSample, PLANTED } from '../support/sample-accounts.js';
import { hasRedis, pathOf } from '../support/tools.js';
import { until } from '../support/until.js';

/** All commands that Redis receives, from MONITOR. */
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
    bank.onAccounts = listSample(200);
    const gateways = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '0' });
    for (const gateway of gateways) expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
    await until(() => redis.cli('KEYS', '*').includes(':snapshot'));
    // negative case: the search finds plain text
    redis.cli('SET', 'clear', `xx${Buffer.from(`y${PLANTED.iban}y`).toString('base64')}`);
    expect(formsOf(PLANTED.iban).some((form) => redis.everything().includes(form))).toBe(true);
    redis.cli('DEL', 'clear');
    const dump = redis.everything();
    expect(dump.length).toBeGreaterThan(50_000);
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

const cliWithInput = (redis: Redis, args: readonly string[], input: Uint8Array) =>
  spawnSync(pathOf('redis-cli'), ['-p', String(redis.port), '-x', ...args], { input });

const readValue = (redis: Redis, key: string) =>
  spawnSync(pathOf('redis-cli'), ['-p', String(redis.port), '--raw', 'GET', key]).stdout.subarray(0, -1);

/** An instance whose stored copy is fresh for a minute, and another that has not read it yet. */
async function scene(count = 20) {
  const [bank, redis] = [await startPretendBank(), await startRedis()];
  bank.onAccounts = slowly(0, count);
  const [first, second] = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '60000' });
  await first.get('/api/v1/accounts');
  await until(async () => (await sharingOf(first)).lastStoredAt !== null);
  await until(() => !redis.cli('KEYS', '*').includes(':lock'));
  const key = redis.cli('KEYS', '*').trim();
  const copy = readValue(redis, key);
  return { bank, redis, first, second, key, copy };
}

type Scene = Awaited<ReturnType<typeof scene>>;

const set = ({ redis, key }: Scene, bytes: Uint8Array) => cliWithInput(redis, ['SET', key], bytes);

(hasRedis() ? describe : describe.skip)('a copy in Redis', () => {
  // sealing.spec.ts alters each part of the copy
  it.each<[string, string, (here: Scene) => unknown]>([
    ['a single byte', 'damaged', (here) => set(here, Buffer.from('x'))],
    ['sealed with another key', 'foreign', (here) => set(here, here.copy.with(5, here.copy[5]! ^ 1))],
    ['a list', 'damaged', ({ redis, key }) => [redis.cli('DEL', key), redis.cli('RPUSH', key, 'x')]],
    [
      'larger than 64 MB',
      'too-large',
      (here) => [set(here, here.copy), here.redis.cli('SETRANGE', here.key, String(65 * 2 ** 20), 'x')],
    ],
  ])('that is %s is ignored, logged once, and overwritten', async (_what, reason, alter) => {
    const here = await scene();
    alter(here);
    for (const headers of [{}, { 'cache-control': 'max-age=0' }]) {
      const { status, json } = await here.second.get('/api/v1/accounts', headers);
      expect([status, json.accounts.length]).toEqual([200, 20]);
    }
    expect(here.second.events('sharing.refused')).toMatchObject([{ what: 'redis', reason, level: 'warn' }]);
    expect(here.second.events('sharing.unavailable')).toEqual([]);
    await until(async () => (await sharingOf(here.second)).lastStoredAt !== null);
    expect(readValue(here.redis, here.key).length).toBe(here.copy.length);
  });

  it('that an attacker replaced with an older one is neither served nor cached', async () => {
    const here = await scene(3);
    here.bank.onAccounts = slowly(0, 5);
    const now = { 'cache-control': 'max-age=0' };
    expect((await here.second.get('/api/v1/accounts', now)).json.accounts).toHaveLength(5);
    await until(async () => (await sharingOf(here.second)).lastStoredAt !== null);
    set(here, here.copy);
    for (const header of [{}, { 'cache-control': 'max-age=59' }]) {
      expect((await here.second.get('/api/v1/accounts', header)).json.accounts).toHaveLength(5);
    }
    // a caller with a smaller max-age causes a call to the bank
    expect((await here.first.get('/api/v1/accounts', now)).json.accounts).toHaveLength(5);
    expect(asked(here.bank).refreshes).toBe(3);
  });
});
