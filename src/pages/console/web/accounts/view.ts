import type { Account } from '../shared/gateway.js';

/** The view in the address bar. Its parameters but `account` are those of the API's query (docs/api.md#query). */
export interface View {
  readonly q: string;
  readonly status: string;
  readonly currency: string;
  readonly ownerId: string;
  readonly sort: Sort;
  readonly pageNumber: number;
  readonly pageSize: number;
  /** The id of the open account, or empty. */
  readonly account: string;
}

const SORT_FIELDS = ['name', 'status', 'openedAt', 'currency', 'current'] as const;
export type SortField = (typeof SORT_FIELDS)[number];
/** The sort order; a leading "-" means descending. */
export type Sort = SortField | `-${SortField}`;
export const PAGE_SIZES = [25, 50, 100] as const;

export const DEFAULT_VIEW: View = {
  q: '',
  status: '',
  currency: '',
  ownerId: '',
  sort: 'name',
  pageNumber: 1,
  pageSize: PAGE_SIZES[0],
  account: '',
};

const FILTERS = ['q', 'status', 'currency', 'ownerId'] as const;
export type Filters = Pick<View, (typeof FILTERS)[number]>;

/** Longer texts and ids in the address are cut off: the limits of `q` and of `ownerId` (docs/api.md#query). */
const [MAX_TEXT, MAX_ID] = [100, 200];

/** Parses the view from an address; ignores invalid parts. */
export function readView(search: string): View {
  const query = new URLSearchParams(search);
  const text = (name: string, maxLength = MAX_TEXT) => (query.get(name) ?? '').slice(0, maxLength);
  const size = Number(text('pageSize'));
  const page = text('pageNumber');
  return {
    q: text('q'),
    status: text('status'),
    currency: text('currency'),
    ownerId: text('ownerId', MAX_ID),
    sort: toSort(text('sort')),
    pageNumber: /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1,
    pageSize: (PAGE_SIZES as readonly number[]).includes(size) ? size : DEFAULT_VIEW.pageSize,
    account: text('account', MAX_ID),
  };
}

/** Parses a sort order; returns the default if it is invalid. */
export const toSort = (text: string): Sort =>
  SORT_FIELDS.some((field) => text === field || text === `-${field}`) ? (text as Sort) : DEFAULT_VIEW.sort;

/** The query string of a view, without default values; begins with "?". */
export function toSearch(view: View): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(view)) {
    if (value !== DEFAULT_VIEW[name as keyof View]) query.set(name, String(value));
  }
  return `?${query}`;
}

/** Converts the active filters to API parameters. */
export function toFilters(view: Filters): Record<string, string> {
  return Object.fromEntries(
    FILTERS.filter((name) => view[name].trim() !== '').map((name) => [name, view[name].trim()]),
  );
}

/** The parameters for the view's page of the list. */
export function toListQuery(view: View) {
  const { sort, pageNumber, pageSize } = view;
  return { ...toFilters(view), sort, pageNumber, pageSize };
}

/** Filters these accounts for a view while the gateway is unreachable. */
export function filterShown(accounts: readonly Account[], { q, status, currency, ownerId }: Filters): Account[] {
  const same = (text: string | null, wanted: string) =>
    wanted.trim() === '' || text?.toLowerCase() === wanted.trim().toLowerCase();
  const search = q.trim().toLowerCase();
  return accounts.filter(
    (account) =>
      same(account.status, status) &&
      same(account.currency, currency) &&
      same(account.owner.id, ownerId) &&
      textsOf(account).some((text) => text?.toLowerCase().includes(search)),
  );
}

const textsOf = ({ name, description, ibans, identifiers, owner }: Account) =>
  [name, description, owner.name, owner.number].concat(
    ibans,
    identifiers.map((each) => each.account),
  );

/** The name of a download: environment, filters and the time of the data. */
export function toFileName(environment: string, view: Filters, asOf: string): string {
  const filters = Object.entries(toFilters(view)).map(([name, value]) => (name === 'q' ? value : `${name}-${value}`));
  const parts = ['accounts', environment, ...filters, asOf.replace(/\.\d+Z$/, 'Z').replaceAll(':', '')];
  const safe = parts.map((part) => part.replaceAll(/[^\p{L}\p{N}.-]+/gu, '-').slice(0, 40)).filter(Boolean);
  return `${safe.join('_')}.csv`;
}

/** The sort after a click on a header: ascending, then descending, in turns. */
export const turned = (sort: Sort, field: SortField): Sort => (sort === field ? `-${field}` : field);
