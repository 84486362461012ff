import { z } from 'zod';
import { snapshotInfoSchema, type Account, type Balance } from './account.js';
import { compareTexts } from './compare-decimals.js';
import { ExactSum } from './exact-sum.js';
import { compareInstants, parseInstant, type BankInstant } from './instant.js';
import type { Pause } from './pause.js';

const sum = z.string().nullable().describe('the exact sum as a decimal; null when an entry lacks the amount');
const date = z.string().nullable().describe("the bank's text, unchanged");

export const totalSchema = z
  .object({
    currency: z
      .string()
      .nullable()
      .meta({ example: 'EUR' })
      .describe("the entries' own; never added across currencies"),
    accounts: z.int().describe('accounts with an entry in this currency'),
    missing: z.int().describe('entries that lack an amount'),
    beginOfDay: sum,
    intraDay: sum,
    current: sum,
    earliestFinancialDate: date,
    latestFinancialDate: date,
  })
  .meta({ id: 'Total' });

export const balancesAnswerSchema = z
  .object({ totals: z.array(totalSchema), snapshot: snapshotInfoSchema })
  .meta({ id: 'BalancesAnswer' });

export type Total = z.infer<typeof totalSchema>;

/** The CurrentBalance entries of these accounts, summed by their own currency and ordered by it, null last (contract §3). */
export async function toTotals(accounts: Iterable<Account>, pause: Pause): Promise<Total[]> {
  const byCurrency = new Map<string | null, RunningTotal>();
  let count = 0;
  for (const account of accounts) {
    if (++count % 256 === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    for (const balance of account.balances) {
      if (balance.type !== 'CurrentBalance') continue;
      let total = byCurrency.get(balance.currency);
      if (!total) byCurrency.set(balance.currency, (total = new RunningTotal()));
      total.add(account, balance);
    }
  }
  return [...byCurrency]
    .sort(([a], [b]) => (a === null ? 1 : b === null ? -1 : compareTexts(a, b)))
    .map(([currency, total]) => total.result(currency));
}

const AMOUNTS = ['beginOfDay', 'intraDay', 'current'] as const;
type Amount = (typeof AMOUNTS)[number];
type Dated = { readonly text: string; readonly instant: BankInstant };

class RunningTotal {
  readonly #sums: Record<Amount, ExactSum | null> = {
    beginOfDay: new ExactSum(),
    intraDay: new ExactSum(),
    current: new ExactSum(),
  };
  #accounts = 0;
  #last: Account | null = null;
  #missing = 0;
  #earliest: Dated | null = null;
  #latest: Dated | null = null;
  /** Dates are few; each is read once. */
  readonly #dates = new Set<string>();

  add(account: Account, balance: Balance): void {
    if (account !== this.#last) this.#accounts += 1;
    this.#last = account;
    if (AMOUNTS.some((amount) => balance[amount] === null)) this.#missing += 1;
    for (const amount of AMOUNTS) {
      const value = balance[amount];
      if (value === null) this.#sums[amount] = null;
      else this.#sums[amount]?.add(value);
    }
    this.#addDate(balance.financialDate);
  }

  #addDate(text: string | null): void {
    if (text === null || this.#dates.has(text)) return;
    this.#dates.add(text);
    const instant = parseInstant(text);
    if (!instant) return;
    if (!this.#earliest || compareInstants(instant, this.#earliest.instant) < 0) this.#earliest = { text, instant };
    if (!this.#latest || compareInstants(instant, this.#latest.instant) > 0) this.#latest = { text, instant };
  }

  result(currency: string | null): Total {
    const [beginOfDay, intraDay, current] = AMOUNTS.map((amount) => this.#sums[amount]?.toString() ?? null) as [
      string | null,
      string | null,
      string | null,
    ];
    return {
      currency,
      accounts: this.#accounts,
      missing: this.#missing,
      beginOfDay,
      intraDay,
      current,
      earliestFinancialDate: this.#earliest?.text ?? null,
      latestFinancialDate: this.#latest?.text ?? null,
    };
  }
}
