import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { account, balance, accountLists, plainSum, resultOf } from '../../test/support/sample-snapshots.js';
import { toTotals } from './balance-totals.js';

describe('totals', () => {
  it('equal BigInt arithmetic over the entries of each currency', () => {
    fc.assert(
      fc.property(accountLists, (accounts) => {
        const entries = accounts
          .flatMap((of) => of.balances.map((entry) => ({ of, entry })))
          .filter(({ entry }) => entry.type === 'CurrentBalance');
        const currencies = [...new Set(entries.map(({ entry }) => entry.currency))].sort((a, b) =>
          a === null ? 1 : b === null ? -1 : a < b ? -1 : 1,
        );
        const totals = resultOf(toTotals(accounts));
        expect(totals.map(({ currency }) => currency)).toEqual(currencies);
        for (const total of totals) {
          const own = entries.filter(({ entry }) => entry.currency === total.currency);
          const sum = (name: 'beginOfDay' | 'intraDay' | 'current') => {
            const values = own.map(({ entry }) => entry[name]);
            return values.includes(null) ? null : plainSum(values as string[]);
          };
          expect(total).toMatchObject({
            accounts: new Set(own.map(({ of }) => of.id)).size,
            missing: own.filter(({ entry }) => [entry.beginOfDay, entry.intraDay, entry.current].includes(null)).length,
            beginOfDay: sum('beginOfDay'),
            intraDay: sum('intraDay'),
            current: sum('current'),
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it("compare dates as instants, and return the bank's text", () => {
    const dates = ['2026-11-20', 'soon', '2026-11-21T00:00:00+02:00', '2026-11-20T23:00:00Z', null];
    const accounts = dates.map((financialDate, index) =>
      account({ id: String(index), balances: [balance({ financialDate })] }),
    );
    expect(resultOf(toTotals(accounts))).toMatchObject([
      { earliestFinancialDate: '2026-11-20', latestFinancialDate: '2026-11-20T23:00:00Z' },
    ]);
    expect(resultOf(toTotals(accounts.slice(1, 2)))).toMatchObject([
      { earliestFinancialDate: null, latestFinancialDate: null },
    ]);
  });
});
