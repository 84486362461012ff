import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { ExactSum, isNull, type AmountColumn } from '../snapshot/amount-column.js';
import { textAt } from '../snapshot/bytes.js';
import { AMOUNT_FIELDS } from '../snapshot/sections.js';
import type { Mask } from '../snapshot/select.js';
import type { Snapshot } from '../snapshot/snapshot.js';

/** Entries that are added before other requests get their turn: some milliseconds. */
const ENTRIES_PER_SLICE = 50_000;

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
 * The CurrentBalance entries of the accounts that match, summed by their own currency and ordered by it, null last. A long
 * sum is made in slices.
 */
export async function toTotals(snapshot: Snapshot, mask: Mask): Promise<Total[]> {
  const { positions, currency, dateCodes, dateRanks, dates } = snapshot.entries;
  const columns = AMOUNT_FIELDS.map((field) => snapshot.amounts(field));
  const totals: RunningTotal[] = [];
  for (let entry = 0; entry < positions.length; entry++) {
    if (entry > 0 && entry % ENTRIES_PER_SLICE === 0) await nextTurn();
    const position = positions[entry] as number;
    if (mask !== null && mask[position] === 0) continue;
    const total = (totals[currency.codes[entry] as number] ??= new RunningTotal(columns));
    total.add(entry, position);
    const date = dateCodes[entry] as number;
    if (date !== 0) total.addDate(date - 1, dateRanks);
  }
  const [withoutCurrency, ...byCurrency] = Array.from(totals, (total, code) => ({ total, code }));
  return [...byCurrency, ...(withoutCurrency ? [withoutCurrency] : [])].flatMap(({ total, code }) => {
    if (!total) return [];
    const [beginOfDay = null, intraDay = null, current = null] = total.sums.map((each) => each?.toString() ?? null);
    const toDate = (index: number | null) => (index === null ? null : textAt(dates, index));
    return {
      currency: code === 0 ? null : textAt(currency.values, code - 1),
      accounts: total.accounts,
      missing: total.missing,
      beginOfDay,
      intraDay,
      current,
      earliestFinancialDate: toDate(total.earliest),
      latestFinancialDate: toDate(total.latest),
    };
  });
}

class RunningTotal {
  /** In the order of AMOUNT_FIELDS; null once an entry lacks the amount. */
  readonly sums: (ExactSum | null)[];
  accounts = 0;
  missing = 0;
  /** Indexes of dates; of equal instants, the first one found. */
  earliest: number | null = null;
  latest: number | null = null;
  readonly #columns: readonly AmountColumn[];
  #lastPosition = -1;

  constructor(columns: readonly AmountColumn[]) {
    this.#columns = columns;
    this.sums = columns.map((column) => new ExactSum(column));
  }

  add(entry: number, position: number): void {
    if (position !== this.#lastPosition) this.accounts += 1;
    this.#lastPosition = position;
    let lacks = false;
    for (let at = 0; at < this.#columns.length; at++) {
      if (isNull(this.#columns[at] as AmountColumn, entry)) {
        lacks = true;
        this.sums[at] = null;
      } else this.sums[at]?.add(entry);
    }
    if (lacks) this.missing += 1;
  }

  addDate(date: number, ranks: Uint32Array): void {
    const rank = ranks[date] as number;
    if (this.earliest === null || rank < (ranks[this.earliest] as number)) this.earliest = date;
    if (this.latest === null || rank > (ranks[this.latest] as number)) this.latest = date;
  }
}
