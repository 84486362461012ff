import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { readDocument } from '../support/documents.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { type Gateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { startRedis, type RedisOptions } from '../support/redis.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

/** The line that operators are given. */
const ACL = (/^user gateway .*$/m.exec(readDocument('docs/fleet.md'))?.[0] ?? '').replace('>password', '>p@ss/word');

const refreshes = (gateways: readonly Gateway[]) =>
  gateways.flatMap((each) => each.events('snapshot.refreshed').map(({ source }) => source)).sort();

(hasRedis() ? describe : describe.skip)('a fleet', () => {
  it.each<[string, RedisOptions]>([
    ['plain', {}],
    ['over TLS', { tls: true }],
    [
      'as a user who may do only what the documents list',
      { credentials: 'gateway:p%40ss%2Fword@', config: ['user default on nopass ~* &* +@all', ACL] },
    ],
  ])('of 3 with 300 cold callers refreshes once, each with its own token: %s', async (_how, options) => {
    const [bank, redis] = [await startPretendBank(), await startRedis(options)];
    bank.onAccounts = slowly(300);
    const gateways = await startFleet(3, bank, redis);
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => (gateways[index % 3] as Gateway).get('/api/v1/accounts')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(300).fill(200));
    expect(new Set(answers.map(({ headers }) => headers['etag'])).size).toBe(1);
    expect(new Set(answers.map(({ json }) => json.snapshot.asOf)).size).toBe(1);
    expect(asked(bank).refreshes).toBe(1);
    expect(asked(bank).tokens).toBeLessThanOrEqual(3);
    expect(refreshes(gateways)).toEqual(['bank', 'shared', 'shared']);

    const states = await Promise.all(gateways.map(sharingOf));
    expect(states.map(({ status, state }) => [status, state])).toEqual(gateways.map(() => ['up', 'fleet']));
    expect(states.map(({ lastTakenAt }) => lastTakenAt !== null).toSorted()).toEqual([false, true, true]);
    await until(async () => (await Promise.all(gateways.map(sharingOf))).some((each) => each.lastStoredAt !== null));
    const metrics = await Promise.all(gateways.map(async (gateway) => (await gateway.get('/metrics')).text));
    for (const text of metrics) expect(text).toContain('accounts_gateway_sharing_up 1\n');
    const taken = metrics.map((text) => /shared_snapshots_total\{source="shared"\} (\d)/.exec(text)?.[1]);
    expect(taken.toSorted()).toEqual(['0', '1', '1']);
    // the lock is released
    await until(() => !redis.cli('--user', 'default', '--no-auth-warning', 'KEYS', '*').includes('lock'));
  });

  it('takes a stored copy with its age, and asks the bank only when that is too old for the caller', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(0);
    const [first, second] = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '60000' });
    const { json } = await first.get('/api/v1/accounts');
    await until(async () => (await sharingOf(first)).lastStoredAt !== null);
    await delay(1500);
    const shared = await second.get('/api/v1/accounts');
    expect(shared.json).toEqual(json);
    expect(Number(shared.headers['age'])).toBeGreaterThanOrEqual(1);
    expect(asked(bank).refreshes).toBe(1);
    await second.get('/api/v1/accounts', { 'cache-control': 'max-age=1' });
    expect(asked(bank).refreshes).toBe(2);
  });

  it('refreshes once for callers of all instances who ask for now', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    const gateways = await startFleet(3, bank, redis);
    for (const gateway of gateways) await gateway.get('/api/v1/accounts');
    expect(asked(bank).refreshes).toBe(1);
    // what is less than a second old, or than the refresh took, counts as now
    await delay(1100 + Number(gateways[0].events('snapshot.refreshed')[0]?.['ms']));
    bank.onAccounts = slowly(500);
    const now = { 'cache-control': 'no-cache' };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (gateways[index % 3] as Gateway).get('/api/v1/accounts', now)),
    );
    expect(answers.every(({ status, json }) => status === 200 && json.accounts.length === 20)).toBe(true);
    expect(asked(bank).refreshes).toBe(2);
  });

  it('is two groups while a certificate with a new key is rolled out, or with another bank: neither sees the other', async () => {
    const [bank, redis, other] = [await startPretendBank(), await startRedis(), await startPretendBank()];
    bank.onAccounts = slowly(0, 3);
    other.onAccounts = slowly(0, 5);
    const gateways = [...(await startFleet(1, bank, redis)), ...(await startFleet(1, other, redis))] as const;
    const counts = await Promise.all(
      gateways.map(async (gateway) => (await gateway.get('/api/v1/accounts')).json.accounts.length),
    );
    expect(counts).toEqual([3, 5]);
    expect(refreshes(gateways)).toEqual(['bank', 'bank']);
    expect(gateways.flatMap((gateway) => gateway.events('sharing.refused'))).toEqual([]);
  });

  it('forgets the stored copy when access is withdrawn', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(0);
    const [gateway] = await startFleet(1, bank, redis);
    await gateway.get('/api/v1/accounts');
    await until(() => redis.cli('KEYS', '*').includes(':snapshot'));
    bank.onAccounts = (_request, response) => response.writeHead(404).end();
    await gateway.get('/api/v1/accounts', { 'cache-control': 'max-age=0' });
    await until(() => redis.cli('KEYS', '*').trim() === '');
  });
});
