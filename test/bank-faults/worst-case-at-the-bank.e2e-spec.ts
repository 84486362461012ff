import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';

const bank = await bankForFile();

const calls = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;

/** What `callers` at once cost a bank that answers the calls for the list so, one after the other, and the last forever. */
async function costOf(statuses: readonly number[], { callers = 20, env = {} as Record<string, string> } = {}) {
  let nth = 0;
  bank.onAccounts = (_request, response) => {
    const status = statuses[Math.min(nth++, statuses.length - 1)] as number;
    const rows = [sampleAccount(1)];
    json(response, status, status === 200 ? { result: rows, pageInfo: { rowCount: 1 } } : {});
  };
  const clock = new MovedClock();
  // on a busy machine the back-off must not pass
  clock.stop();
  const gateway = await startGateway(bank, env, clock);
  const answers = await Promise.all(Array.from({ length: callers }, () => askInTime(gateway, '/api/v1/accounts')));
  return { calls: calls(), tokens: bank.tokens.length, statuses: [...new Set(answers.map(({ status }) => status))] };
}

describe('what one reading costs the bank at most (docs/architecture.md#every-retry)', () => {
  it.each([
    ['all is well', [200], { calls: 1, tokens: 1, statuses: [200] }],
    ['it answers 500', [500], { calls: 1, tokens: 1, statuses: [503] }],
    ['it answers 503', [503], { calls: 2, tokens: 1, statuses: [503] }],
    ['it answers 401', [401], { calls: 2, tokens: 2, statuses: [502] }],
    ['it answers 401, then 503', [401, 503], { calls: 3, tokens: 2, statuses: [503] }],
    ['it answers 503, then 401', [503, 401], { calls: 3, tokens: 2, statuses: [502] }],
    ['it answers 401, then 503, then 401', [401, 503, 401], { calls: 3, tokens: 2, statuses: [502] }],
    ['it is well at the third call', [401, 503, 200], { calls: 3, tokens: 2, statuses: [200] }],
  ])('when %s', async (_name, statuses, cost) => {
    expect(await costOf(statuses)).toEqual(cost);
  });

  it('when every page size is refused, with a 503 before each: two calls for each size', async () => {
    const sizes = [1000, 500, 250, 125, 62, 50, 25, 12, 6, 3, 1];
    const refusals = sizes.flatMap(() => [503, 413]);
    expect(
      await costOf(refusals, { callers: 3, env: { BANK_PAGE_SIZE: '1000', REQUEST_DEADLINE_MS: '20000' } }),
    ).toEqual({ calls: 2 * sizes.length, tokens: 1, statuses: [502] });
  });

  it('when the list moves under it: each page twice, and no more', async () => {
    let count = 0;
    bank.onAccounts = (_request, response, url) => {
      const number = Number(url.searchParams.get('PageNumber'));
      // another count each time, so that no reading ever agrees with itself
      json(response, 200, {
        result: number > 3 ? [] : [sampleAccount(2 * number - 1), sampleAccount(2 * number)],
        pageInfo: { currentPage: number, pageSize: 2, rowCount: 5 + (count++ % 2) },
      });
    };
    const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '2' });
    const answer = await askInTime(gateway, '/api/v1/accounts');
    expect(answer.json.snapshot.complete).toBe(false);
    expect(calls()).toBe(6);
  });
});
