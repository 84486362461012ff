import type { Account, Balance } from './account.js';
import type { Total } from './document-schemas.js';
import { ExactSum } from './decimal.js';
import { compareTexts } from './sort.js';
import { toSortableInstant } from './sortable-instant.js';

const AMOUNT_FIELDS = ['beginOfDay', 'intraDay', 'current'] as const;

/** Sums the CurrentBalance entries of the accounts by their own currency, in order of currency, null last. */
export function* toTotals(accounts: Iterable<Account>): Generator<undefined, Total[]> {
  const totals = new Map<string | null, RunningTotal>();
  for (const account of accounts) {
    for (const entry of account.balances) {
      if (entry.type !== 'CurrentBalance') continue;
      const total = totals.get(entry.currency) ?? new RunningTotal();
      totals.set(entry.currency, total);
      total.add(entry, account);
    }
    yield;
  }
  return [...totals]
    .sort(([a], [b]) => (a === null || b === null ? Number(a === null) - Number(b === null) : compareTexts(a, b)))
    .map(([currency, total]) => total.toTotal(currency));
}

class RunningTotal {
  #accounts = 0;
  #lastAccount: Account | null = null;
  #missing = 0;
  #earliest: { readonly text: string; readonly instant: string } | null = null;
  #latest: { readonly text: string; readonly instant: string } | null = null;
  /** Null as soon as an entry lacks the amount. */
  readonly #sums: Record<(typeof AMOUNT_FIELDS)[number], ExactSum | null> = {
    beginOfDay: new ExactSum(),
    intraDay: new ExactSum(),
    current: new ExactSum(),
  };

  /** All entries of one account are added in a row. */
  add(entry: Balance, account: Account): void {
    if (account !== this.#lastAccount) this.#accounts += 1;
    this.#lastAccount = account;
    if (AMOUNT_FIELDS.some((field) => entry[field] === null)) this.#missing += 1;
    for (const field of AMOUNT_FIELDS) {
      const amount = entry[field];
      if (amount === null) this.#sums[field] = null;
      else this.#sums[field]?.add(amount);
    }
    if (entry.financialDate !== null) this.#addDate(entry.financialDate);
  }

  toTotal(currency: string | null): Total {
    const { beginOfDay, intraDay, current } = this.#sums;
    return {
      currency,
      accounts: this.#accounts,
      missing: this.#missing,
      beginOfDay: beginOfDay?.toString() ?? null,
      intraDay: intraDay?.toString() ?? null,
      current: current?.toString() ?? null,
      earliestFinancialDate: this.#earliest?.text ?? null,
      latestFinancialDate: this.#latest?.text ?? null,
    };
  }

  #addDate(text: string): void {
    // most entries have the same date
    if (text === this.#earliest?.text || text === this.#latest?.text) return;
    const instant = toSortableInstant(text);
    if (instant === null) return;
    if (this.#earliest === null || instant < this.#earliest.instant) this.#earliest = { text, instant };
    if (this.#latest === null || instant > this.#latest.instant) this.#latest = { text, instant };
  }
}
