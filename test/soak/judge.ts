import type { IncomingHttpHeaders } from 'node:http';
import type { Account } from '../../src/snapshot/account.js';
import { problemSchema } from '../../src/problems/problem-document.js';
import { PROBLEMS } from '../../src/problems/problem-table.js';
import { PLANTED, sampleId } from '../support/sample-accounts.js';
import { ACCOUNTS, nameOf, type Version } from './soak-bank.js';

/** One call of one caller, and what came of it. */
export interface Call {
  readonly path: string;
  readonly cacheControl: string | null;
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Limits {
  readonly freshMs: number;
  readonly maxAgeMs: number;
  readonly deadlineMs: number;
}

interface Snapshot {
  readonly asOf: string;
  readonly stale: boolean;
  readonly complete: boolean | null;
}

/** Allowance for the scheduling of both processes. */
const TURNS_MS = 300;

/** What is wrong with an answer, in words; null when nothing is. `heldMs`: how long one of the processes stood still. */
export function judge(call: Call, versions: readonly Version[], limits: Limits, heldMs: number): string | null {
  const tookMs = call.receivedAt - call.sentAt;
  const slackMs = TURNS_MS + heldMs;
  if (tookMs > limits.deadlineMs + 500 + heldMs) return `answered after ${tookMs} ms`;
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(String(call.headers['x-request-id'] ?? ''))) return 'without a request id';
  if (call.status !== 200) return judgeProblem(call);

  const { accounts, snapshot, total } = readAnswer(call);
  const numbers = new Set(accounts.map(({ name }) => Number(/ v(\d+)$/.exec(name)?.[1] ?? Number.NaN)));
  const [number = -1, ...others] = numbers;
  const version = versions[number];
  if (others.length > 0) return `accounts of ${numbers.size} refreshes in one answer`;
  if (!version) return 'accounts that the bank never gave';
  for (const account of accounts) {
    const wrong = judgeAccount(account, number);
    if (wrong) return wrong;
  }
  if (new Set(accounts.map(({ id }) => id)).size !== accounts.length) return 'an account twice';
  if (snapshot.complete !== false && total !== null && total !== ACCOUNTS)
    return `${total} accounts, said to be complete=${snapshot.complete}`;

  const asOf = Date.parse(snapshot.asOf);
  const before = versions[number - 1];
  if (asOf > version.firstAskedAt || (before && asOf < before.firstAskedAt))
    return 'asOf is not when the bank was asked for these accounts';
  if (call.receivedAt - asOf > limits.maxAgeMs + slackMs) return `${call.receivedAt - asOf} ms old`;
  const readMeanwhile = version.lastServedAt >= call.sentAt - slackMs;
  const ageMs = call.sentAt - asOf;
  const nowMs = Math.max(1000, version.lastServedAt - asOf);
  // a refresh of the last second counts as one of now (docs/api.md#freshness)
  const freshMs = call.cacheControl === 'no-cache' ? Math.max(limits.freshMs, nowMs) : limits.freshMs;
  if (!snapshot.stale && ageMs > freshMs + slackMs && !readMeanwhile) return `${ageMs} ms old and not marked stale`;
  if (snapshot.stale && call.receivedAt - asOf < limits.freshMs) return 'marked stale while fresh';
  if (snapshot.stale && call.cacheControl === 'no-cache') return 'marked stale for no-cache';
  return null;
}

function judgeAccount({ id, name, iban, balances }: Account, version: number): string | null {
  const number = Number(id.slice(-12));
  if (id !== sampleId(number) || name !== nameOf(number, version)) return 'an account under another id';
  const [balance, ...more] = balances;
  const sound =
    iban === PLANTED.iban &&
    more.length === 0 &&
    balance?.beginOfDay === PLANTED.beginOfDay &&
    balance.intraDay === PLANTED.intraDay &&
    balance.current === PLANTED.current;
  return sound ? null : 'an account with other values than the bank gave';
}

function judgeProblem({ status, headers, text }: Call): string | null {
  const { success, data } = problemSchema.safeParse(JSON.parse(text));
  if (!success) return `${status} without a problem document`;
  if (data.status !== status || PROBLEMS[data.code].status !== status) return `${data.code} with status ${status}`;
  if (data.requestId !== headers['x-request-id']) return 'a problem with another request id';
  if (status === 500) return 'internal-error';
  const retryAfter = Number(headers['retry-after'] ?? (status === 503 ? Number.NaN : 1));
  if (!(retryAfter >= 1 && retryAfter <= 300)) return `${data.code} with Retry-After ${headers['retry-after']}`;
  return null;
}

function readAnswer({ text }: Call): { accounts: Account[]; snapshot: Snapshot; total: number | null } {
  const body = JSON.parse(text) as {
    account?: Account;
    accounts?: Account[];
    page?: { total: number };
    snapshot: Snapshot;
  };
  const accounts = body.accounts ?? (body.account ? [body.account] : []);
  return { accounts, snapshot: body.snapshot, total: body.page?.total ?? null };
}
