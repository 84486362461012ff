import type { Account, Balance, ProblemCode } from './generated/types.gen.js';

// The public types of accounts-gateway-client/testing. Its code is in client/testing/, which the build bundles in place
// of this module.

/**
 * - `well`: a refresh every 10 s finds the same data
 * - `slow`: a refresh takes 5 s, so callers get an older copy after 1 s, if there is one
 * - `down`: the bank fails: the copy, then 503 once it expires, 5 min after its refresh
 * - `empty`: the bank lists no accounts
 * - `moving`: each refresh finds different balances
 * - `gone`: nothing responds
 */
export type Scene = 'well' | 'slow' | 'down' | 'empty' | 'moving' | 'gone';

/** Codes that responses can have; the others are for `/health` or the client only. */
export type AnswerCode = Exclude<
  ProblemCode,
  | 'accounts-emptied'
  | 'bank-slow'
  | 'certificate-expiring'
  | 'clock-skewed'
  | 'network-error'
  | 'sharing-unavailable'
  | 'snapshot-not-stored'
>;

export interface FakeGatewayOptions {
  /** At most 1000; default: eight accounts with cases that a page must handle. */
  readonly accounts?: readonly Account[] | undefined;
  /** Initial time; default: now. */
  readonly now?: Date | number | string | undefined;
}

export interface FailOptions {
  /** Default: all of them. */
  readonly endpoint?: 'accounts' | 'account' | 'balances' | undefined;
  /** Calls that fail; default 1; `Infinity` until `reset()`. */
  readonly times?: number | undefined;
  /** Rounded up to whole seconds, from 1 to 300; default: 30 s for a 502, 503 or 504. */
  readonly retryAfterMs?: number | undefined;
}

/** A call that the fake received. */
export interface FakeCall {
  /** ISO 8601. */
  readonly at: string;
  readonly method: string;
  /** Without a proxy's base path: `/api/v1/accounts`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly clientName: string | null;
  /** 0 while nothing responds, or if the caller left. */
  readonly status: number;
}

export interface FakeGateway {
  /** Responds like the gateway. Pass it to `createClient`. */
  readonly fetch: typeof fetch;
  set(scene: Scene): void;
  /** Makes the next calls fail. Several failures are queued. */
  fail(code: AnswerCode, options?: FailOptions): void;
  /**
   * Moves the fake's clock forward. The clock also follows `Date.now()` and `performance.now()`, so with fake timers,
   * use only those.
   */
  advance(ms: number): void;
  readonly calls: readonly FakeCall[];
  /** Restores the initial state. */
  reset(): void;
}

/** Creates a gateway for the tests of a web app. @throws TypeError for wrong options */
export declare const createFakeGateway: (options?: FakeGatewayOptions) => FakeGateway;

/**
 * An account with these fields; the others have plain values. `current` defaults to `beginOfDay` + `intraDay`; given
 * alone, it is also `beginOfDay`. @throws TypeError for an amount that is not a decimal string
 */
export declare const fakeAccount: (
  partial?: Partial<Omit<Account, 'balances'>> & { readonly balances?: readonly Partial<Balance>[] },
) => Account;

/** Request handlers for MSW's `setupServer` or `setupWorker`. */
// oxlint-disable-next-line typescript/no-explicit-any -- the type of MSW's class, which this package does not depend on
export declare const mswHandlers: (fake: Pick<FakeGateway, 'fetch'>) => any[];

/** The parts of a Playwright route that the adapter uses. */
export interface PlaywrightRoute {
  request(): { url(): string; method(): string; headers(): Record<string, string> };
  fulfill(response: { status: number; headers: Record<string, string>; body: string }): Promise<void>;
  abort(errorCode?: string): Promise<void>;
}

/** A handler for Playwright: `page.route('**' + '/api/v1/**', playwrightRoute(fake))`. */
export declare const playwrightRoute: (fake: Pick<FakeGateway, 'fetch'>) => (route: PlaywrightRoute) => Promise<void>;
