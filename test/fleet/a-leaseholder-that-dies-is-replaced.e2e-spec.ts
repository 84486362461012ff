import { afterEach, describe, expect, it } from '@jest/globals';
import { closeAll, temporaryDirectory } from '../support/closing.js';
import { asked, slowly, startFleet } from '../support/fleet.js';
import { closeGateways, get } from '../support/gateway.js';
import { closePretendBanks, startPretendBank } from '../support/pretend-bank.js';
import { endPrograms, programEnvironment, startProgram } from '../support/program.js';
import { startRedis } from '../support/redis.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await endPrograms();
  await closeGateways();
  await closePretendBanks();
  await closeAll();
});

(hasRedis() ? describe : describe.skip)('a leaseholder', () => {
  it.each<[string, NodeJS.Signals]>([
    ['killed', 'SIGKILL'],
    ['stopped, and late when it goes on', 'SIGSTOP'],
  ])('that is %s in a reading is replaced within 5 s', async (_what, signal) => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    let hangs = true;
    bank.onAccounts = (...args) => {
      if (!hangs) slowly(0)(...args);
    };
    const cwd = temporaryDirectory();
    const holder = await startProgram({ cwd, env: programEnvironment(bank, { ...redis.env, LOG_LEVEL: 'info' }) });
    await holder.started();
    // it reads at its start, and gets no answer
    await until(() => asked(bank).readings === 1, 15_000);
    const [gateway] = await startFleet(1, bank, redis, { SHUTDOWN_GRACE_MS: '100' });
    const answer = gateway.get('/api/v1/accounts');
    await until(() => redis.cli('KEYS', '*:lease').includes('reading'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asked(bank)).toEqual({ tokens: 1, readings: 1 });
    hangs = false;
    holder.child.kill(signal);
    const began = performance.now();
    expect((await answer).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(5000);
    expect(asked(bank)).toEqual({ tokens: 1, readings: 2 });
    expect(gateway.events('sharing.unavailable')).toEqual([]);
    holder.child.kill('SIGCONT');
  });

  it('that stops in order leaves its work to the others at once', async () => {
    const [bank, redis] = [await startPretendBank(), await startRedis()];
    let hangs = true;
    bank.onAccounts = (...args) => {
      if (!hangs) slowly(0)(...args);
    };
    const [first, second] = await startFleet(2, bank, redis, { SHUTDOWN_GRACE_MS: '100' });
    const lost = get(`${first.url}/api/v1/accounts`).catch(() => null);
    await until(() => asked(bank).readings === 1);
    const answer = second.get('/api/v1/accounts');
    await new Promise((resolve) => setTimeout(resolve, 300));
    hangs = false;
    const began = performance.now();
    await first.close();
    expect((await answer).status).toBe(200);
    expect(performance.now() - began).toBeLessThan(2500);
    await lost;
  });
});
