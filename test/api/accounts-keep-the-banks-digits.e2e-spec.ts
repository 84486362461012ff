import { describe, expect, it } from '@jest/globals';
import Big from 'big.js';
import type { Account } from '../../src/snapshot/account.js';
import { askAccounts, getToken, start } from '../support/sandbox.js';
import { askInTime } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';

interface RawBalance {
  beginOfDayAmount: string;
  intraDayAmount: string;
  blockedBalanceAmount?: string | null;
}
interface RawAccount {
  accountId: string;
  balances: RawBalance[] | null;
  netInterestRate: string | null;
  overdraftRate: string | null;
}

/** The bank's JSON with each number as the text it stands as; written here again, not taken from what is tested. */
function parseKeepingDigits(text: string): { result: RawAccount[] } {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? context?.source : value,
  ) as { result: RawAccount[] };
}

/** 1.5E3 → 1500, with the exponent written out (docs/bank.md#amounts). */
const writtenOut = (digits: string) => (/e/i.test(digits) ? new Big(digits).toFixed() : digits);

describe("accounts keep the bank's digits", () => {
  it('120 accounts over three pages of 50, each amount as the bank itself sends it', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { BANK_PAGE_SIZE: '50' });
    const answer = await askInTime(gateway, '/api/v1/accounts?pageSize=1000');
    expect(answer.json.page).toEqual({ number: 1, size: 1000, total: 120, hasMore: false });
    expect(answer.json.snapshot).toMatchObject({ stale: false, complete: true });
    const pages = sandbox.requests
      .filter(({ endpoint }) => endpoint === 'accounts')
      .map(({ pageNumber, pageSize }) => [pageNumber, pageSize]);
    expect(pages.sort(([a], [b]) => Number(a) - Number(b))).toEqual([
      [1, 50],
      [2, 50],
      [3, 50],
    ]);

    const raw = await askAccounts(sandbox, await getToken(sandbox), '?PageSize=1000');
    const sent = parseKeepingDigits(raw.text).result;
    const got = new Map((answer.json.accounts as Account[]).map((account) => [account.id, account]));
    expect(sent).toHaveLength(120);
    expect(got.size).toBe(120);
    let amounts = 0;
    for (const account of sent) {
      const mine = got.get(account.accountId);
      expect(mine?.balances).toHaveLength(account.balances?.length ?? 0);
      expect(mine?.interest.netRate).toBe(account.netInterestRate);
      expect(mine?.overdraft.rate).toBe(account.overdraftRate);
      account.balances?.forEach((balance, index) => {
        const { beginOfDayAmount, intraDayAmount, blockedBalanceAmount } = balance;
        expect(mine?.balances[index]).toMatchObject({
          beginOfDay: writtenOut(beginOfDayAmount),
          intraDay: writtenOut(intraDayAmount),
          blocked: blockedBalanceAmount ?? null,
        });
        const current = mine?.balances[index]?.current ?? 'missing';
        expect(new Big(current).eq(new Big(beginOfDayAmount).plus(intraDayAmount))).toBe(true);
        amounts += 3;
      });
    }
    expect(amounts).toBeGreaterThan(300);
    // the ones that a double would spoil are among them
    for (const digits of ['"19435.50"', '"12345678901234567.89"', '"-0.01"', '"1500"', '"88.000"']) {
      expect(answer.text).toContain(digits);
    }
    expect(answer.text).not.toMatch(/"(beginOfDay|intraDay|current|blocked|netRate|rate)":-?\d/);
  });

  it('a bank that gives one page of a thousand is asked once', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox);
    expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(120);
    expect(sandbox.requests.filter(({ endpoint }) => endpoint === 'accounts')).toHaveLength(1);
  });
});
