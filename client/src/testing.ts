import type { Account, Balance, ProblemCode } from './generated/types.gen.js';

// The public types of accounts-gateway-client/testing. Its code is client/testing/, bundled in place of this module's.

/**
 * - `well`: a refresh every 10 s finds the same data
 * - `slow`: a refresh takes 5 s, so callers get the older copy after 1 s
 * - `down`: the bank fails: the copy, then 503 once it expires, 5 min after its refresh
 * - `empty`: the bank lists no accounts
 * - `moving`: each refresh finds other balances
 * - `gone`: nothing answers
 */
export type Scene = 'well' | 'slow' | 'down' | 'empty' | 'moving' | 'gone';

/** The codes that answers can have; the others are for `/health` only. */
export type AnswerCode = Exclude<
  ProblemCode,
  | 'accounts-emptied'
  | 'bank-slow'
  | 'certificate-expiring'
  | 'clock-skewed'
  | 'sharing-unavailable'
  | 'snapshot-not-stored'
>;

export interface FakeGatewayOptions {
  /** At most 1000; default: eight that a page must cope with. */
  readonly accounts?: readonly Account[] | undefined;
  /** The time at the start; default: now. */
  readonly now?: Date | number | string | undefined;
}

export interface FailOptions {
  /** Default: all of them. */
  readonly endpoint?: 'accounts' | 'account' | 'balances' | undefined;
  /** Calls that fail; default 1. */
  readonly times?: number | undefined;
  /** Whole seconds, as in the header; default: that of the gateway. */
  readonly retryAfterMs?: number | undefined;
}

/** A call that the fake got. */
export interface FakeCall {
  /** ISO 8601. */
  readonly at: string;
  readonly method: string;
  /** Without the base path of a proxy: `/api/v1/accounts`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly clientName: string | null;
  /** 0 while nothing answers, or if the caller left. */
  readonly status: number;
}

export interface FakeGateway {
  /** Answers as the gateway does. Give it to `createClient`. */
  readonly fetch: typeof fetch;
  set(scene: Scene): void;
  /** Makes the next calls fail. Orders wait in line. */
  fail(code: AnswerCode, options?: FailOptions): void;
  /** Moves the time of the fake forward. It also follows `Date.now()` and `performance.now()`, so with fake timers use those alone. */
  advance(ms: number): void;
  readonly calls: readonly FakeCall[];
  /** Everything as at the start. */
  reset(): void;
}

/** Creates a gateway for the tests of a web app. @throws TypeError for accounts that the gateway could not send */
export declare const createFakeGateway: (options?: FakeGatewayOptions) => FakeGateway;

/** An account with these fields; the others as plain as possible. */
export declare const fakeAccount: (
  partial?: Partial<Omit<Account, 'balances'>> & { readonly balances?: readonly Partial<Balance>[] },
) => Account;

/** Request handlers for MSW's `setupServer` or `setupWorker`. */
// oxlint-disable-next-line typescript/no-explicit-any -- the type of MSW's class, which this package does not depend on
export declare const mswHandlers: (fake: Pick<FakeGateway, 'fetch'>) => any[];

/** The parts of a Playwright route that the adapter needs. */
export interface PlaywrightRoute {
  request(): { url(): string; method(): string; headers(): Record<string, string> };
  fulfill(response: { status: number; headers: Record<string, string>; body: string }): Promise<void>;
  abort(errorCode?: string): Promise<void>;
}

/** A handler for Playwright: `page.route('**' + '/api/v1/**', playwrightRoute(fake))`. */
export declare const playwrightRoute: (fake: Pick<FakeGateway, 'fetch'>) => (route: PlaywrightRoute) => Promise<void>;
