import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeAll } from '../support/closing.js';
import { readDocument } from '../support/documents.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { closeGateways, type Gateway } from '../support/gateway.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { startRedis, type RedisOptions } from '../support/redis.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await closeGateways();
  await closePretendBanks();
  await closeAll();
});

/** The line that the operator is told to use. */
const ACL = (/^user gateway .*$/m.exec(readDocument('docs/fleet.md'))?.[0] ?? '').replace('>password', '>p@ss/word');

(hasRedis() ? describe : describe.skip)('a fleet', () => {
  it.each<[string, RedisOptions]>([
    ['plain', {}],
    ['by TLS', { tls: true }],
    [
      'as a user who may do no more than the documents say',
      {
        credentials: 'gateway:p%40ss%2Fword@',
        config: ['user default on nopass ~* &* +@all', ACL],
      },
    ],
  ])('of 3 with 300 cold callers asks for one token and reads once: %s', async (_how, options) => {
    const [bank, redis] = [await startPretendBank(), await startRedis(options)];
    bank.onAccounts = slowly(300);
    const gateways = await startFleet(3, bank, redis);
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) => (gateways[index % 3] as Gateway).get('/api/v1/accounts')),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(300).fill(200));
    expect(new Set(answers.map(({ headers }) => headers['etag'])).size).toBe(1);
    expect(new Set(answers.map(({ json }) => json.snapshot.asOf)).size).toBe(1);
    expect(asked(bank)).toEqual({ tokens: 1, readings: 1 });
    expect(gateways.flatMap((each) => each.events('snapshot.refreshed').map(({ source }) => source)).sort()).toEqual([
      'bank',
      'shared',
      'shared',
    ]);
    const first = gateways[0];
    await until(async () => (await sharingOf(first)).instances === 3 && (await sharingOf(first)).lease === 'free');
    expect(await sharingOf(first)).toEqual({ status: 'up', state: 'fleet', instances: 3, lease: 'free' });
    const figures = await Promise.all(gateways.map(async (gateway) => (await gateway.get('/metrics')).text));
    for (const text of figures) expect(text).toContain('accounts_gateway_sharing_up 1\n');
    const taken = figures.map((text) => /shared_snapshots_total\{source="shared"\} (\d)/.exec(text)?.[1]);
    expect(taken.toSorted()).toEqual(['0', '1', '1']);
  });

  it('takes a reading that is there already, with its age, and asks the bank only when it is older', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(0);
    const [first, second] = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '60000' });
    const { json } = await first.get('/api/v1/accounts');
    await until(() => redis.cli('KEYS', '*:record').split('\n').length > 2);
    await delay(1500);
    const shared = await second.get('/api/v1/accounts');
    expect(shared.json).toEqual(json);
    expect(Number(shared.headers['age'])).toBeGreaterThanOrEqual(1);
    expect(asked(bank)).toEqual({ tokens: 1, readings: 1 });
    await second.get('/api/v1/accounts', { 'cache-control': 'max-age=1' });
    expect(asked(bank)).toEqual({ tokens: 1, readings: 2 });
  });

  it('reads once for callers of all instances who ask for now', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    const gateways = await startFleet(3, bank, redis);
    for (const gateway of gateways) await gateway.get('/api/v1/accounts');
    expect(asked(bank).readings).toBe(1);
    // what is younger than a second counts as now
    await delay(1100);
    bank.onAccounts = slowly(500);
    const now = { 'cache-control': 'no-cache' };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (gateways[index % 3] as Gateway).get('/api/v1/accounts', now)),
    );
    expect(answers.every(({ status, json }) => status === 200 && json.accounts.length === 20)).toBe(true);
    expect(asked(bank)).toEqual({ tokens: 1, readings: 2 });
  });

  it('is two fleets for two users of the bank: nothing of one is seen by the other', async () => {
    const [bank, redis, other] = [await startPretendBank(), await startRedis(), await startPretendBank()];
    bank.onAccounts = slowly(0, 3);
    other.onAccounts = slowly(0, 5);
    const [mine] = await startFleet(1, bank, redis);
    const [theirs] = await startFleet(1, other, redis);
    expect((await mine?.get('/api/v1/accounts'))?.json.accounts).toHaveLength(3);
    expect((await theirs?.get('/api/v1/accounts'))?.json.accounts).toHaveLength(5);
    expect([asked(bank), asked(other)]).toEqual([
      { tokens: 1, readings: 1 },
      { tokens: 1, readings: 1 },
    ]);
    expect((await mine?.get('/health'))?.json.details.sharing).toMatchObject({ state: 'alone', instances: 1 });
  });
});
