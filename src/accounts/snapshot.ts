import type { Instant } from '../clock.js';
import type { AccountList } from '../bank/account-reader.js';
import type { Account } from './account.js';
import { toAccount } from './to-account.js';

/** One complete reading of the bank's accounts, in our words. Never changed, only replaced as a whole. */
export interface Snapshot {
  /** Sorted by name. */
  readonly accounts: readonly Account[];
  readonly byId: ReadonlyMap<string, Account>;
  /** Before the bank was asked. */
  readonly askedAt: Instant;
  readonly durationMs: number;
  readonly complete: boolean | null;
}

const collator = new Intl.Collator('und', { numeric: true });

/** Orders by name as people read it: Unicode collation, numbers as numbers; ties by id. */
export const byName = (a: Account, b: Account): number =>
  collator.compare(a.name, b.name) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

export function toSnapshot(list: AccountList, askedAt: Instant, durationMs: number): Snapshot {
  const accounts = list.accounts.map(toAccount).sort(byName);
  return {
    accounts,
    byId: new Map(accounts.map((account) => [account.id, account])),
    askedAt,
    durationMs,
    complete: list.complete,
  };
}
