import { AnswerReader, type CallOptions } from './answer-reader.js';
import { assertClientName, assertDeadline, assertFunction, assertId, assertQuery, toRoot } from './arguments.js';
import { formatAmount } from './format-amount.js';
import { gatherAccounts } from './gather-accounts.js';
import type {
  Account,
  AccountAnswer,
  AccountList,
  BalancesAnswer,
  GetBalancesData,
  ListAccountsData,
  Snapshot,
} from './generated/types.gen.js';
import { Observers, type Observed } from './observe.js';
import { watch, type Watch, type WatchHandlers } from './watch.js';

type Given<T> = { readonly [K in keyof T]?: T[K] | '' | undefined };
type ListQuery = NonNullable<ListAccountsData['query']>;

/** Every filter of docs/api.md#query. Empty filters ('') are omitted. */
export type AccountFilter = Given<NonNullable<GetBalancesData['query']>>;

/** The query for one page of accounts: filters, sort order, page. */
export type AccountQuery = Given<Omit<ListQuery, 'format' | 'separator' | 'decimal'>>;

/** The format of a download; `format` defaults to csv. */
export type ExportFormat = Given<Pick<ListQuery, 'separator' | 'decimal'>> & {
  readonly format?: 'csv' | 'ndjson' | undefined;
};

export interface ClientOptions extends Pick<CallOptions, 'deadlineMs' | 'onRetry'> {
  /**
   * Address of the gateway: `https://accounts.example.com`, with a path prefix if it has one; '' means the page's own
   * origin.
   */
  readonly baseUrl: string;
  /** Names the app in the gateway's log and metrics. */
  readonly clientName?: string | undefined;
  /** Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** Every failed call throws a GatewayProblem, or the reason of the caller's signal; a wrong argument, a TypeError. */
export interface Client {
  /** Returns one page of the list. */
  listAccounts(query?: AccountQuery, options?: CallOptions): Promise<AccountList>;
  /**
   * Iterates over every matching account, all from one snapshot. Fetches all pages first; each page has its own
   * deadline.
   */
  allAccounts(filter?: Omit<AccountQuery, 'pageNumber' | 'pageSize'>, options?: CallOptions): AsyncIterable<Account>;
  /** Returns one account. @throws GatewayProblem account-not-found */
  getAccount(id: string, options?: CallOptions): Promise<AccountAnswer>;
  /** Returns the exact totals by currency. */
  getBalances(filter?: AccountFilter, options?: CallOptions): Promise<BalancesAnswer>;
  /** Polls a page of the list and reports changes (README.md#watch). */
  watch(query: AccountQuery, handlers: WatchHandlers, options?: Pick<CallOptions, 'signal'>): Watch;
  /** Returns the state of a page of the list for components: one object for equivalent queries while it is used. */
  observe(query?: AccountQuery): Observed;
  /** Returns the state of the totals in the same way. */
  observeBalances(filter?: AccountFilter): Observed<BalancesAnswer>;
  /** Returns the URL for downloading every matching account. */
  exportUrl(query?: Omit<AccountQuery, 'pageNumber' | 'pageSize'>, format?: ExportFormat): string;
  /** Same as the exported function `formatAmount`. */
  readonly formatAmount: typeof formatAmount;
}

/**
 * A client of the gateway. It keeps ETags of responses, so create one client per app, not one per call. @throws
 * TypeError for an invalid option
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, clientName, deadlineMs = 30_000, fetch: given, onRetry } = options ?? {};
  const root = toRoot(baseUrl);
  assertClientName(clientName);
  assertDeadline(deadlineMs);
  assertFunction('fetch', given);
  assertFunction('onRetry', onRetry);
  const headers = new Headers(clientName === undefined ? {} : { 'X-Client-Name': clientName });
  // called without `this`: browsers reject `fetch` as a method of another object
  const fetch: typeof globalThis.fetch = (...args) => (given ?? globalThis.fetch)(...args);
  const reader = new AnswerReader({ fetch, headers, deadlineMs, onRetry });
  const observers = new Observers();
  const urlOf = (path: string, query: object = {}, more: object = {}) =>
    `${root ?? ownOrigin()}/api/v1/${path}${toSearch(query, more)}`;

  const listAccounts = async (query?: AccountQuery, options: CallOptions = {}, page?: AccountQuery) =>
    (await reader.read<AccountList>(urlOf('accounts', query, page), options)).body;

  const observe = <T extends { snapshot: Snapshot }>(path: string, query: object = {}): Observed<T> => {
    const call = path + toSearch(query);
    return observers.get<T>(call, async (how) => reader.read<T>(urlOf(call), how));
  };

  return {
    listAccounts,
    allAccounts: async function* (filter, options) {
      let how = options;
      yield* await gatherAccounts((page) => {
        const list = listAccounts(filter, how, page);
        // a refresh for each page would be a snapshot for each page
        how = { ...options, refresh: false };
        return list;
      });
    },
    getAccount: async (id, options = {}) => {
      assertId(id);
      const url = urlOf(`accounts/${encodeURIComponent(id.toWellFormed())}`);
      return (await reader.read<AccountAnswer>(url, options)).body;
    },
    getBalances: async (filter, options = {}) =>
      (await reader.read<BalancesAnswer>(urlOf('balances', filter), options)).body,
    watch: (query, handlers, { signal } = {}) => {
      const url = urlOf('accounts', query);
      return watch((how) => reader.read(url, how), handlers, signal);
    },
    observe: (query) => observe<AccountList>('accounts', query),
    observeBalances: (filter) => observe<BalancesAnswer>('balances', filter),
    exportUrl: (query, { format = 'csv', ...how } = {}) => urlOf('accounts', query, { format, ...how }),
    formatAmount,
  };
}

/** The current origin of the page. @throws TypeError if there is no page, for example in server-side rendering */
function ownOrigin(): string {
  const { location } = globalThis as { location?: { readonly origin: string } };
  if (!location?.origin.startsWith('http')) {
    throw new TypeError("baseUrl '' is the page's own origin, and there is no page here.");
  }
  return location.origin;
}

/** The query string, sorted: equal queries give the same URL, which is the key of the cached responses. */
function toSearch(query: object, more: object = {}): string {
  assertQuery(query);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...more })) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  search.sort();
  return search.size === 0 ? '' : `?${search}`;
}
