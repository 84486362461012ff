import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { asked, slowly, startFleet } from '../support/fleet.js';
import { MovedClock } from '../support/moved-clock.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { startRedis } from '../support/redis.js';
import { hasRedis } from '../support/tools.js';
import { until } from '../support/until.js';

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
