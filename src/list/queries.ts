import type { Account } from './account.js';
import type { AccountList, Selection } from './account-list.js';
import type { Properties, QueryKind } from './document-schemas.js';
import { toCsv, type CsvDialect } from './csv.js';
import type { Filters } from './match.js';
import type { Sliced } from './slices.js';
import { toTotals } from './balance-totals.js';

type Find<K extends QueryKind> = (list: AccountList, query: never) => Sliced<Properties<K> | null>;

/** The queries with a JSON document as their response. Add one here, and its document in document-schemas.ts. */
const QUERIES = {
  *accounts(list: AccountList, { selection, number, size }: Page) {
    const matching = yield* list.select(selection);
    const start = (number - 1) * size;
    const total = matching.length;
    return {
      accounts: matching.slice(start, start + size),
      page: { number, size, total, hasMore: start + size < total },
    };
  },

  *account(list: AccountList, { id }: { readonly id: string }) {
    const account = list.find(id);
    yield;
    return account === undefined ? null : { account };
  },

  *totals(list: AccountList, { filters }: { readonly filters: Filters }) {
    return { totals: yield* toTotals(yield* list.select({ filters, sort: 'name' })) };
  },
} satisfies { readonly [K in QueryKind]: Find<K> };

interface Page {
  readonly selection: Selection;
  readonly number: number;
  readonly size: number;
}

export type Query = { [K in QueryKind]: { readonly kind: K } & Parameters<(typeof QUERIES)[K]>[1] }[QueryKind];

/** The properties of the document except `snapshot`; null for an account that is not in the list. */
export function findProperties(list: AccountList, query: Query): Sliced<object | null> {
  const find = QUERIES[query.kind] as Find<QueryKind>;
  return find(list, query as never);
}

/** Every match as a file. */
export type Export =
  | { readonly kind: 'csv'; readonly selection: Selection; readonly dialect: CsvDialect }
  | { readonly kind: 'ndjson'; readonly selection: Selection };

/** The rows of an export; undefined where the thread may pause. */
export function* toRows(list: AccountList, asked: Export, asOf: string): Generator<string | undefined, void> {
  const matching = yield* list.select(asked.selection);
  if (asked.kind === 'csv') yield* toCsv(matching, asOf, asked.dialect);
  else yield* toLines(matching);
}

function* toLines(accounts: readonly Account[]): Generator<string> {
  // some readers end a line there, too
  const toEscape = (end: string) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`;
  for (const account of accounts) yield `${JSON.stringify(account).replace(/[\u0085\u2028\u2029]/g, toEscape)}\n`;
}
