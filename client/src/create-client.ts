import { AnswerReader, type CallOptions } from './answer-reader.js';
import { gatherAccounts } from './gather-accounts.js';
import type {
  Account,
  AccountAnswer,
  AccountList,
  BalancesAnswer,
  GetBalancesData,
  ListAccountsData,
} from './generated/types.gen.js';
import { watch } from './watch/watch.js';
import type { Watch, WatchHandlers } from './watch/watch-events.js';

type Given<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Which accounts: every filter of docs/api.md#query. */
export type AccountFilter = Given<NonNullable<GetBalancesData['query']>>;

/** Which page of which accounts, in which order. CSV and NDJSON are for links, not for this client. */
export type AccountQuery = Given<Omit<NonNullable<ListAccountsData['query']>, 'format' | 'separator' | 'decimal'>>;

export interface ClientOptions {
  /** Where the gateway is: `https://accounts.example.com`, a path prefix included; '' on a page of the same origin. */
  readonly baseUrl: string;
  /** Names the app in the log and the metrics of the gateway. */
  readonly clientName?: string | undefined;
  /** How long one call lasts at most, repeats included; default 30 000. */
  readonly deadlineMs?: number | undefined;
  /** Default: that of the platform. */
  readonly fetch?: typeof fetch | undefined;
}

/** Every call fails with a GatewayProblem, or with the reason of the caller's own signal. */
export interface Client {
  /** One page. */
  listAccounts(query?: AccountQuery, options?: CallOptions): Promise<AccountList>;
  /** Every account that matches, all of one snapshot; pages are gathered before the first is given. Each page has a deadline of its own. */
  allAccounts(filter?: Omit<AccountQuery, 'pageNumber' | 'pageSize'>, options?: CallOptions): AsyncIterable<Account>;
  /** One account. @throws GatewayProblem account-not-found */
  getAccount(id: string, options?: CallOptions): Promise<AccountAnswer>;
  /** The exact sums by currency. */
  getBalances(filter?: AccountFilter, options?: CallOptions): Promise<BalancesAnswer>;
  /** Tells of changes until it is closed (docs/web-apps.md#live-updates). One connection serves all tabs of an origin. */
  watch(filter: AccountFilter, handlers: WatchHandlers, options?: Pick<CallOptions, 'signal'>): Watch;
}

export type { CallOptions } from './answer-reader.js';

/**
 * A client of the gateway. Keeps the tags of its answers, so one for each app, not for each call.
 * @throws TypeError for a `baseUrl` or `clientName` that cannot be used
 */
export function createClient({ baseUrl, clientName, deadlineMs = 30_000, fetch: given }: ClientOptions): Client {
  const root = toRoot(baseUrl);
  const headers = new Headers(clientName === undefined ? {} : { 'X-Client-Name': clientName });
  // called as a function of its own: browsers refuse `fetch` as a method of another object
  const fetch: typeof globalThis.fetch = (...args) => (given ?? globalThis.fetch)(...args);
  const reader = new AnswerReader({ fetch, headers, deadlineMs });
  const urlOf = (path: string, query: object = {}) => `${root}/api/v1/${path}${toSearch(query)}`;

  const listAccounts = (query?: AccountQuery, options: CallOptions = {}) =>
    reader.read<AccountList>(urlOf('accounts', query), options);

  return {
    listAccounts,
    allAccounts: async function* (filter = {}, options = {}) {
      yield* await gatherAccounts((page) => listAccounts({ ...filter, ...page }, options));
    },
    getAccount: (id, options = {}) => reader.read(urlOf(`accounts/${encodeURIComponent(id.toWellFormed())}`), options),
    getBalances: (filter, options = {}) => reader.read(urlOf('balances', filter), options),
    watch: (filter, handlers, { signal } = {}) =>
      watch({ url: urlOf('events', filter), fetch, headers }, handlers, signal),
  };
}

/** The address without a slash at its end, complete where the platform knows an origin. */
function toRoot(baseUrl: string): string {
  const { location } = globalThis as { location?: { readonly href: string } };
  const url = new URL(baseUrl, location?.href);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The same for the same query, in whatever order it was given: it is the key of what is kept and shared. */
function toSearch(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  search.sort();
  return search.size === 0 ? '' : `?${search}`;
}
