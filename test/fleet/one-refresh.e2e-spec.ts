import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { readDocument } from '../support/documents.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { type Gateway, get } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { type RedisOptions, startRedis } from '../support/redis.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';
import { startWatched } from '../support/watched-program.js';

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

describe('a lock holder that dies', () => {
  /** A bank that keeps everybody waiting until `answer`. */
  async function startHangingBank() {
    const bank = await startPretendBank();
    let hangs = true;
    bank.onAccounts = (...args) => {
      if (!hangs) slowly(0)(...args);
    };
    return { bank, answer: () => (hangs = false) };
  }

  (hasRedis() ? describe : describe.skip)('the lock', () => {
    it.each<[string, NodeJS.Signals]>([
      ['killed', 'SIGKILL'],
      ['stopped', 'SIGSTOP'],
    ])('of an instance that is %s during its refresh costs the others at most 5 s', async (_what, signal) => {
      const [{ bank, answer }, redis] = [await startHangingBank(), await startRedis()];
      const cwd = temporaryDirectory();
      const holder = await startProgram({ cwd, env: programEnvironment(bank, { ...redis.env, LOG_LEVEL: 'info' }) });
      await holder.started();
      // it refreshes at its start
      await until(() => asked(bank).refreshes === 1, 15_000);
      const [gateway] = await startFleet(1, bank, redis, { SHUTDOWN_GRACE_MS: '100' });
      const waiting = gateway.get('/api/v1/accounts');
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(asked(bank).refreshes).toBe(1);
      answer();
      holder.child.kill(signal);
      const began = performance.now();
      expect((await waiting).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(5000);
      expect(asked(bank).refreshes).toBe(2);
      expect(gateway.events('sharing.unavailable')).toEqual([]);
      holder.child.kill('SIGCONT');
    });

    it('of an instance that stops is released at once', async () => {
      const [{ bank, answer }, redis] = [await startHangingBank(), await startRedis()];
      const [first, second] = await startFleet(2, bank, redis, { SHUTDOWN_GRACE_MS: '100' });
      const lost = get(`${first.url}/api/v1/accounts`).catch(() => null);
      await until(() => asked(bank).refreshes === 1);
      const waiting = second.get('/api/v1/accounts');
      await new Promise((resolve) => setTimeout(resolve, 300));
      answer();
      const began = performance.now();
      await first.close();
      expect((await waiting).status).toBe(200);
      expect(performance.now() - began).toBeLessThan(4500);
      await lost;
    });

    it('that a stranger holds and never releases costs 5 s; then the instance refreshes alone, and stores its copy', async () => {
      const [bank, redis] = [await startPretendBank(), await startRedis()];
      bank.onAccounts = slowly(0);
      const [first, second] = await startFleet(2, bank, redis, { SNAPSHOT_FRESH_MS: '60000' });
      await first.get('/api/v1/accounts');
      await until(() => !redis.cli('KEYS', '*').includes(':lock') && redis.cli('KEYS', '*').includes(':snapshot'));
      const copy = redis.cli('KEYS', '*').trim();
      const lock = copy.replace(':snapshot', ':lock');
      redis.cli('DEL', copy);
      redis.cli('SET', lock, 'stranger');
      const began = performance.now();
      expect((await second.get('/api/v1/accounts')).status).toBe(200);
      expect(performance.now() - began).toBeGreaterThan(4900);
      expect(performance.now() - began).toBeLessThan(8000);
      await until(async () => (await sharingOf(second)).lastStoredAt !== null);
      // only its owner releases a lock
      expect(redis.cli('GET', lock).trim()).toBe('stranger');
      expect(asked(bank).refreshes).toBe(2);
      expect(second.events('sharing.unavailable')).toEqual([]);
    });
  });
});

describe('one clock', () => {
  const off = (ms: number) => {
    const clock = new MovedClock();
    clock.setWall(ms);
    return clock;
  };

  (hasRedis() ? describe : describe.skip)('an instance whose clock is 5 minutes', () => {
    it.each([
      ['ahead', 300_000],
      ['behind', -300_000],
    ])('%s serves the same age and the same time, whichever refreshed', async (_how, ms) => {
      const [bank, redis] = [await startPretendBank(), await startRedis()];
      bank.onAccounts = slowly(0);
      const clocks = [off(ms), off(0), off(-ms)];
      const gateways = await startFleet(3, bank, redis, { SNAPSHOT_FRESH_MS: '60000' }, clocks);
      const began = Date.now();
      expect((await gateways[0].get('/api/v1/accounts')).status).toBe(200);
      await until(() => redis.cli('KEYS', '*').includes(':snapshot'));
      await delay(2000);
      const answers = await Promise.all(gateways.map((gateway) => gateway.get('/api/v1/accounts')));
      const ages = answers.map(({ headers }) => Number(headers['age']));
      expect(Math.min(...ages)).toBeGreaterThanOrEqual(2);
      expect(Math.max(...ages) - Math.min(...ages)).toBeLessThanOrEqual(1);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      // the time is Redis' too, though the one that refreshed is wrong about it
      const asOf = Date.parse(answers[0]?.json.snapshot.asOf as string);
      expect(Math.abs(asOf - began)).toBeLessThan(5000);
      expect(asked(bank).refreshes).toBe(1);
    });
  });
});

describe('not asked for', () => {
  /** The part of the bundle with all of sharing, and the client of Redis. */
  const SHARING = /\/(shared-snapshots)-[\w-]+\.js/;

  let bank: PretendBank;
  beforeAll(async () => {
    bank = await startPretendBank();
    bank.onAccounts = listSample();
  });

  describe('sharing', () => {
    it('without REDIS_URL and SNAPSHOT_FILE is not loaded, and connects to nobody', async () => {
      const watched = await startWatched(bank);
      expect(watched.loaded(SHARING)).toEqual([]);
      expect(watched.connectedTo()).toEqual([new URL(bank.url).port]);
    });

    it('negative case: with REDIS_URL it is loaded, and connects', async () => {
      const port = String(await closedPort());
      const watched = await startWatched(bank, { REDIS_URL: `redis://127.0.0.1:${port}` });
      expect(watched.loaded(SHARING)).toEqual(['shared-snapshots']);
      expect(watched.connectedTo()).toContain(port);
    });
  });
});
