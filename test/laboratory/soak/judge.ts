import type { Account } from '../../../src/list/account.js';
import { faultOf } from '../../support/common-conditions.js';
import type { Answer } from '../../support/gateway.js';
import { PLANTED, sampleId } from '../../support/sample-accounts.js';
import { ACCOUNTS, nameOf, type Version } from './soak-bank.js';

export const LIMITS = { freshMs: 300, maxAgeMs: 3000, deadlineMs: 2500 };

/** A call and its result. */
interface Call {
  readonly answer: Answer;
  readonly noCache: boolean;
  readonly sentAt: number;
  readonly receivedAt: number;
}

interface Body {
  readonly account?: Account;
  readonly accounts?: readonly Account[];
  readonly page?: { readonly total: number };
  readonly snapshot: { readonly asOf: string; readonly stale: boolean; readonly complete: boolean | null };
}

/** Tolerance for the scheduling of both processes, ms. */
const TURNS_MS = 300;
/** How far past its deadline a response may arrive on a busy machine, ms. */
const BUSY_MS = 10_000;

/** What is wrong with a response, in words; null if nothing is. `heldMs`: pauses of this process. */
export function judge(call: Call, versions: readonly Version[], heldMs: number): string | null {
  const { answer, sentAt, receivedAt, noCache } = call;
  const slackMs = TURNS_MS + heldMs;
  if (receivedAt - sentAt > LIMITS.deadlineMs + BUSY_MS) return `responded after ${receivedAt - sentAt} ms`;
  const fault = faultOf(answer);
  if (fault !== null || answer.status !== 200) return fault;

  const { account, accounts = account ? [account] : [], page, snapshot } = answer.json as Body;
  const [number = -1, ...others] = new Set(accounts.map(({ name }) => Number(/ v(\d+)$/.exec(name)?.[1])));
  const version = versions[number];
  if (others.length > 0) return `accounts of ${others.length + 1} refreshes in one response`;
  if (!version) return 'accounts that the bank never gave';
  if (!accounts.every((each) => isAsGiven(each, number))) return 'an account with other values than the bank gave';
  if (new Set(accounts.map(({ id }) => id)).size !== accounts.length) return 'an account twice';
  if (snapshot.complete !== false && page && page.total !== ACCOUNTS) return `${page.total} accounts, said to be all`;

  const asOf = Date.parse(snapshot.asOf);
  const before = versions[number - 1];
  if (asOf > version.firstAskedAt || (before && asOf < before.firstAskedAt))
    return 'asOf is not when the bank was asked for these accounts';
  // the snapshot is chosen when the request arrives, however long the response takes
  if (sentAt - asOf > LIMITS.maxAgeMs + TURNS_MS) return `${sentAt - asOf} ms old`;
  const readMeanwhile = version.lastServedAt >= sentAt - slackMs;
  // a refresh in the last second counts as current (docs/api.md#freshness)
  const freshMs = noCache ? Math.max(1000, version.lastServedAt - asOf) : LIMITS.freshMs;
  if (!snapshot.stale && sentAt - asOf > freshMs + slackMs && !readMeanwhile) return 'old and not marked stale';
  if (snapshot.stale && receivedAt - asOf < LIMITS.freshMs) return 'marked stale while fresh';
  return snapshot.stale && noCache ? 'marked stale for no-cache' : null;
}

function isAsGiven({ id, name, iban, balances }: Account, version: number): boolean {
  const number = Number(id.slice(-12));
  const amounts = balances.map(({ current }) => current).join();
  return (
    id === sampleId(number) && name === nameOf(number, version) && iban === PLANTED.iban && amounts === PLANTED.current
  );
}
