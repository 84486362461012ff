import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { readDocument } from '../support/documents.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import type { Answer, Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { startRedis } from '../support/redis.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

const ACCOUNTS = '/api/v1/accounts';

/** The ACL line in the document. */
const ACL = (/^user gateway .*$/m.exec(readDocument('docs/fleet.md'))?.[0] ?? '').replace('>password', '>p@ss/word');

/** Current age of the snapshot in this response, ms. */
const ageOf = (answer?: Answer) => Date.now() - Date.parse(answer?.json.snapshot.asOf as string);

(hasRedis() ? describe : describe.skip)('a fleet', () => {
  it('of 3 instances with 30 callers at a cold start refreshes once, each instance with its own token, over TLS, as a user with only the documented rights', async () => {
    const config = ['user default on nopass ~* &* +@all', ACL];
    const redis = await startRedis({ tls: true, credentials: 'gateway:p%40ss%2Fword@', config });
    const bank = await startPretendBank();
    bank.onAccounts = slowly(100);
    const gateways = await startFleet(3, bank, redis, { SNAPSHOT_FRESH_MS: '60000' });
    const askAll = (count: number, headers = {}) =>
      Promise.all(Array.from({ length: count }, (_, index) => (gateways[index % 3] as Gateway).get(ACCOUNTS, headers)));
    const answers = await askAll(30);
    expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(200));
    expect(new Set(answers.map(({ headers }) => headers['etag'])).size).toBe(1);
    expect(new Set(answers.map(({ json }) => json.snapshot.asOf)).size).toBe(1);
    expect(asked(bank).refreshes).toBe(1);
    expect(asked(bank).tokens).toBeLessThanOrEqual(3);
    const sources = gateways.flatMap((each) => each.events('snapshot.refreshed').map(({ source }) => source));
    expect(sources.toSorted()).toEqual(['bank', 'shared', 'shared']);

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

    // a copy younger than a second, or than the duration of the refresh, counts as current
    const tookMs = Math.max(...gateways.map((gateway) => Number(gateway.events('snapshot.refreshed')[0]?.['ms'])));
    await until(() => ageOf(answers[0]) > Math.max(1000, tookMs));
    const now = await askAll(9, { 'cache-control': 'no-cache' });
    expect(now.every(({ status, json }) => status === 200 && json.accounts.length === 20)).toBe(true);
    expect(asked(bank).refreshes).toBe(2);
  });

  it("serves another instance's copy if the bank rejects the token; only an instance's own success ends that failure", async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(0);
    const password = join(temporaryDirectory(), 'password');
    writeFileSync(password, 'wrong');
    bank.onToken = (...args) => {
      const { authorization = '' } = args[0].headers;
      const isRight = Buffer.from(authorization.slice(6), 'base64').toString().endsWith(`:${bank.password}`);
      if (isRight) issueToken(bank)(...args);
      else json(args[1], 401, {});
    };
    const [rejected] = await startFleet(1, bank, redis, { BANK_PASSWORD_FILE: password });
    expect((await rejected.get('/api/v1/accounts')).json.code).toBe('credentials-rejected');
    const [works] = await startFleet(1, bank, redis);
    await works.get('/api/v1/accounts');
    await until(async () => (await sharingOf(works)).lastStoredAt !== null);
    const { status, json: answer } = await rejected.get('/api/v1/accounts');
    expect([status, answer.snapshot.stale]).toEqual([200, false]);
    expect(rejected.events('bank.unavailable')).toHaveLength(1);
    expect(rejected.events('bank.recovered')).toEqual([]);
    expect((await rejected.get('/health')).json.details).toMatchObject({
      token: { status: 'down', code: 'credentials-rejected' },
      bank: { attempts: 1, lastSuccessAt: null },
      snapshot: { status: 'up', stale: false },
    });
    expect(redis.cli('KEYS', '*')).not.toContain(':lock');
  });
});

(hasRedis() ? describe : describe.skip)('the lock', () => {
  it('expires if its instance hangs during its refresh, and another instance refreshes', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = () => undefined;
    const cwd = temporaryDirectory();
    const holder = await startProgram({ cwd, env: programEnvironment(bank, { ...redis.env, LOG_LEVEL: 'info' }) });
    await holder.started();
    // every instance refreshes at startup
    await until(() => asked(bank).refreshes === 1);
    const [gateway] = await startFleet(1, bank, redis, { SHUTDOWN_GRACE_MS: '100' });
    const waiting = gateway.get('/api/v1/accounts');
    const tries = () => Number(/cmdstat_set:calls=(\d+)/.exec(redis.cli('INFO', 'commandstats'))?.[1] ?? 0);
    const triesBefore = tries();
    await until(() => tries() >= triesBefore + 3);
    expect(asked(bank).refreshes).toBe(1);
    bank.onAccounts = slowly(0);
    holder.child.kill('SIGSTOP');
    expect((await waiting).status).toBe(200);
    expect(asked(bank).refreshes).toBe(2);
    expect(gateway.events('sharing.unavailable')).toEqual([]);
    holder.child.kill('SIGCONT');
  });

  it('is released at once if its instance stops during its refresh', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = () => undefined;
    const [gateway] = await startFleet(1, bank, redis, { SHUTDOWN_GRACE_MS: '0' });
    const left = gateway.get('/api/v1/accounts').catch(() => undefined);
    await until(() => redis.cli('KEYS', '*').includes(':lock') && asked(bank).refreshes === 1);
    await gateway.close();
    expect(redis.cli('KEYS', '*')).not.toContain(':lock');
    await left;
  });

  it('that another program never releases is waited for, but not deleted; the instance refreshes on its own and stores its copy', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(0);
    const [gateway] = await startFleet(1, bank, redis);
    const stored = () => redis.cli('KEYS', '*').includes(':snapshot');
    const first = await gateway.get(ACCOUNTS);
    // a copy younger than a second counts as current
    await until(() => !redis.cli('KEYS', '*').includes(':lock') && stored() && ageOf(first) > 1000);
    const copy = redis.cli('KEYS', '*').trim();
    const lock = copy.replace(':snapshot', ':lock');
    redis.cli('DEL', copy);
    redis.cli('SET', lock, 'stranger');
    expect((await gateway.get(ACCOUNTS, { 'cache-control': 'max-age=0' })).status).toBe(200);
    await until(stored);
    // only the owner releases a lock
    expect(redis.cli('GET', lock).trim()).toBe('stranger');
    expect(asked(bank).refreshes).toBe(2);
    expect(gateway.events('sharing.unavailable')).toEqual([]);
  });
});

(hasRedis() ? it : it.skip)(
  'clocks may be 5 minutes off: all serve the same Age and asOf, by the clock of Redis',
  async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    bank.onAccounts = slowly(0);
    const clocks = [300_000, 0, -300_000].map((off) => {
      const clock = new MovedClock();
      clock.moveWall(off);
      return clock;
    });
    const gateways = await startFleet(3, bank, redis, { SNAPSHOT_FRESH_MS: '60000' }, clocks);
    const [ahead, , behind] = gateways as [Gateway, Gateway, Gateway];
    const began = Date.now();
    const first = await ahead.get(ACCOUNTS);
    expect(first.status).toBe(200);
    await until(() => redis.cli('KEYS', '*').includes(':snapshot') && ageOf(first) >= 2000);
    const askedAt = performance.now();
    const answers = await Promise.all(gateways.map((gateway) => gateway.get(ACCOUNTS)));
    const withinSeconds = Math.ceil((performance.now() - askedAt) / 1000);
    const ages = answers.map(({ headers }) => Number(headers['age']));
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...ages) - Math.min(...ages)).toBeLessThanOrEqual(withinSeconds);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(asked(bank).refreshes).toBe(1);
    // too old for this caller
    const later = await behind.get(ACCOUNTS, { 'cache-control': 'max-age=1' });
    expect(asked(bank).refreshes).toBe(2);
    // asOf follows the clock of Redis, although both refreshing instances have a wrong one
    for (const { json } of [first, later]) {
      expect(Math.abs(Date.parse(json.snapshot.asOf as string) - began)).toBeLessThan(200_000);
    }
  },
);
