import { createHash } from 'node:crypto';
import type { Account } from './account.js';
import type { Carried } from './carried.js';
import { Lazy } from './lazy.js';
import { buildOrder, type Order } from './order.js';
import { createPause, type Pause } from './pause.js';
import { SORT_FIELDS, type SortField } from './sort-keys.js';
import { buildTextBlocks, toIbanText, toSearchText, type TextBlocks } from './text-blocks.js';
import { buildValueColumn, type ValueColumn } from './value-column.js';

export const COLUMN_FIELDS = ['status', 'currency', 'ownerId'] as const;
export type ColumnField = (typeof COLUMN_FIELDS)[number];

/** What questions are answered with quickly; each is made once per snapshot, when it is first asked for. */
export interface Facets {
  readonly orders: Readonly<Record<SortField, Lazy<Order>>>;
  readonly columns: Readonly<Record<ColumnField, Lazy<ValueColumn>>>;
  readonly searchTexts: Lazy<TextBlocks>;
  readonly ibanTexts: Lazy<TextBlocks>;
  /** Stands for the content of all accounts. */
  readonly digest: Lazy<string>;
}

type Make<T> = (from: Carried<T> | null, pause: Pause) => Promise<T>;

/**
 * The facets of new accounts. Those that were in use in the snapshot before are made at once, out of the old ones, so that
 * no caller waits for them after a reading; the order by name always.
 */
export async function buildFacets(
  accounts: readonly Account[],
  before: Carried<Facets> | null,
  pause: Pause,
): Promise<Facets> {
  const makers = makersFor(accounts);
  const carry = async <T>(make: Make<T>, old: T | null | undefined): Promise<Lazy<T>> =>
    lazily(make, before && old ? await make({ ...before, value: old }, pause) : null);
  const old = before?.value;

  const orders = {} as Record<SortField, Lazy<Order>>;
  for (const field of SORT_FIELDS) {
    const make = makers.order(field);
    orders[field] =
      field === 'name'
        ? lazily(
            make,
            await make(before && old?.orders.name.ready ? { ...before, value: old.orders.name.ready } : null, pause),
          )
        : await carry(make, old?.orders[field].used);
  }
  const columns = {} as Record<ColumnField, Lazy<ValueColumn>>;
  for (const field of COLUMN_FIELDS) columns[field] = await carry(makers.column(field), old?.columns[field].used);
  return {
    orders,
    columns,
    searchTexts: await carry(makers.texts(toSearchText), old?.searchTexts.used),
    ibanTexts: await carry(makers.texts(toIbanText), old?.ibanTexts.used),
    digest: before && sameAccounts(accounts, before.accounts) ? before.value.digest : lazily(makers.digest, null),
  };
}

/** Made where the snapshot before is out of sight, since what they hold on to is kept as long as the new one. */
function makersFor(accounts: readonly Account[]) {
  return {
    order:
      (field: SortField): Make<Order> =>
      (from, pause) =>
        buildOrder(field, accounts, from, pause),
    column:
      (field: ColumnField): Make<ValueColumn> =>
      (_from, pause) =>
        buildValueColumn(COLUMN_VALUES[field], accounts, pause),
    texts:
      (toText: (account: Account) => string): Make<TextBlocks> =>
      (from, pause) =>
        buildTextBlocks(toText, accounts, from, pause),
    digest: (_from: unknown, pause: Pause) => digest(accounts, pause),
  };
}

function lazily<T>(make: Make<T>, ready: T | null): Lazy<T> {
  return new Lazy(() => make(null, createPause()), ready);
}

const COLUMN_VALUES: Record<ColumnField, (account: Account) => string | null> = {
  status: (account) => account.status,
  currency: (account) => account.currency,
  ownerId: (account) => account.owner.id,
};

/** What is the same object has not changed (see `share`). */
function sameAccounts(accounts: readonly Account[], before: readonly Account[]): boolean {
  return accounts.length === before.length && accounts.every((account, position) => account === before[position]);
}

async function digest(accounts: readonly Account[], pause: Pause): Promise<string> {
  const hash = createHash('sha256');
  for (let position = 0; position < accounts.length; position++) {
    if (position % 256 === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    hash.update(JSON.stringify(accounts[position]));
  }
  return hash.digest('base64url');
}
