import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { asked, sharingOf, slowly, startFleet } from '../support/fleet.js';
import { get } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { startRedis } from '../support/redis.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

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
    expect(performance.now() - began).toBeLessThan(2500);
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
