import { describe, expect, it } from '@jest/globals';
import { repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

describe('a token that ages while its call waits for a turn', () => {
  it.each([
    ['past its end: another is sent', 50_000, 2],
    ['within its life: it is sent', 10_000, 1],
  ])('%s', async (_name, waitedMs, sent) => {
    const bank = await startPretendBank();
    repair(bank);
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0', BANK_MAX_CONCURRENT_REQUESTS: '1' }, clock);
    const first = await askInTime(gateway);

    // its renewal has the only turn, and is slow
    const issue = bank.onToken;
    const { promise: letGo, resolve } = Promise.withResolvers<void>();
    bank.onToken = (...args) => void letGo.then(() => issue(...args));
    clock.advance(256_000);
    const answer = askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
    await until(() => bank.requests.length === 3);
    clock.advance(waitedMs);
    resolve();
    expect((await answer).status).toBe(200);
    const last = bank.requests.findLast(({ path }) => path.startsWith('/api/v1/accounts'));
    expect(last?.headers.authorization).toBe(`Bearer ${bank.tokens[sent - 1]}`);
    expect(bank.tokens).toHaveLength(2);
    await expectCommonConditions(bank, gateway, [first, await answer]);
  });
});
