import { z } from 'zod';
import type { Balance } from '../list/account.js';
import { ExactSum } from '../list/decimal.js';
import { toSortableInstant } from '../list/sortable-instant.js';
import type { Mask } from '../list/select.js';
import type { Snapshot } from '../list/snapshot.js';
import { compareTexts } from '../list/sort-order.js';
import { nextTimeSlice, SLICE_MS } from '../time/time-slice.js';

const AMOUNT_FIELDS = ['beginOfDay', 'intraDay', 'current'] as const;

const sum = z
  .string()
  .nullable()
  .meta({ format: 'decimal', example: '70432.10' })
  .describe('the exact sum as a decimal; null when an entry lacks the amount');
const date = z
  .string()
  .nullable()
  .meta({ example: '2026-11-20T00:00:00+00:00' })
  .describe("the bank's text, unchanged");

/** The sums of one currency, as /api/v1/balances gives them (docs/api.md#balances). */
export const totalSchema = z
  .object({
    currency: z
      .string()
      .nullable()
      .meta({ example: 'EUR' })
      .describe("the entries' own; never added across currencies"),
    accounts: z.int().min(0).meta({ example: 7 }).describe('accounts with an entry in this currency'),
    missing: z.int().min(0).meta({ example: 0 }).describe('entries that lack an amount'),
    beginOfDay: sum,
    intraDay: sum,
    current: sum,
    earliestFinancialDate: date,
    latestFinancialDate: date,
  })
  .meta({ id: 'Total' });

type Total = z.infer<typeof totalSchema>;

/**
 * The CurrentBalance entries of the accounts that match, summed by their own currency and ordered by it, null last. Yields
 * to other requests every 10 ms.
 */
export async function toTotals(snapshot: Snapshot, mask: Mask): Promise<Total[]> {
  const totals = new Map<string | null, RunningTotal>();
  let since = performance.now();
  for (let position = 0; position < snapshot.size; position++) {
    if (mask !== null && mask[position] === 0) continue;
    for (const entry of snapshot.balances(position)) {
      if (entry.type !== 'CurrentBalance') continue;
      const total = totals.get(entry.currency) ?? new RunningTotal();
      totals.set(entry.currency, total);
      total.add(entry, position);
    }
    if (performance.now() - since < SLICE_MS) continue;
    await nextTimeSlice();
    since = performance.now();
  }
  return [...totals]
    .sort(([a], [b]) => (a === null || b === null ? Number(a === null) - Number(b === null) : compareTexts(a, b)))
    .map(([currency, total]) => total.toTotal(currency));
}

/** Running totals of one currency. */
class RunningTotal {
  #accounts = 0;
  #lastPosition = -1;
  #missing = 0;
  /** The first one found, if instants are equal. */
  #earliest: { readonly text: string; readonly instant: string } | null = null;
  #latest: { readonly text: string; readonly instant: string } | null = null;
  /** Null once an entry lacks the amount. */
  readonly #sums: Record<(typeof AMOUNT_FIELDS)[number], ExactSum | null> = {
    beginOfDay: new ExactSum(),
    intraDay: new ExactSum(),
    current: new ExactSum(),
  };

  /** @param position of the account; all entries of an account are added one after the other */
  add(entry: Balance, position: number): void {
    if (position !== this.#lastPosition) this.#accounts += 1;
    this.#lastPosition = position;
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
    // most accounts have the same one
    if (text === this.#earliest?.text || text === this.#latest?.text) return;
    const instant = toSortableInstant(text);
    if (instant === null) return;
    if (this.#earliest === null || instant < this.#earliest.instant) this.#earliest = { text, instant };
    if (this.#latest === null || instant > this.#latest.instant) this.#latest = { text, instant };
  }
}
