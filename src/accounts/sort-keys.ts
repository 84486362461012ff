import type { Account } from './account.js';
import { compareDecimals, compareTexts } from './compare-decimals.js';
import { compareInstants, parseInstant, type BankInstant } from './instant.js';
import type { Pause } from './pause.js';

export const SORT_FIELDS = ['name', 'currency', 'status', 'openedAt', 'current'] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** Keys of all accounts, by position; `compare` is asked for those that are not null only. */
interface PreparedKeys {
  isNull(position: number): boolean;
  compare(a: number, b: number): number;
}

interface SortKey {
  prepare(accounts: readonly Account[], pause: Pause): Promise<PreparedKeys>;
  /** Whether the key is the same as it was. */
  same(before: Account, now: Account): boolean;
}

// English has no rules of its own beyond Unicode's root collation; "und" would take the machine's language instead
const collator = new Intl.Collator('en', { numeric: true });

/** How accounts are ordered (contract §3): names as people read them, dates as instants, amounts exactly. */
export const SORT_KEYS: Record<SortField, SortKey> = {
  name: byKey(
    (account) => account.name,
    (a, b) => collator.compare(a, b),
  ),
  currency: byKey((account) => account.currency, compareTexts),
  status: byKey((account) => account.status, compareTexts),
  openedAt: {
    prepare: async (accounts, pause) => {
      const known = new Map<string, BankInstant | null>();
      return prepareKeys(accounts, (account) => toInstant(account.openedAt, known), compareInstants, pause);
    },
    same: (before, now) => before.openedAt === now.openedAt,
  },
  current: {
    prepare: (accounts, pause) => prepareKeys(accounts, toCurrent, compareCurrent, pause),
    same: (before, now) => {
      const [a, b] = [toCurrent(before), toCurrent(now)];
      return a?.currency === b?.currency && a?.amount === b?.amount;
    },
  },
};

function byKey(keyOf: (account: Account) => string | null, compare: (a: string, b: string) => number): SortKey {
  return {
    prepare: (accounts, pause) => prepareKeys(accounts, keyOf, compare, pause),
    same: (before, now) => keyOf(before) === keyOf(now),
  };
}

async function prepareKeys<K>(
  accounts: readonly Account[],
  keyOf: (account: Account) => K | null,
  compare: (a: K, b: K) => number,
  pause: Pause,
): Promise<PreparedKeys> {
  const keys: (K | null)[] = [];
  for (const account of accounts) {
    if (keys.push(keyOf(account)) % 1024 !== 0) continue;
    const wait = pause();
    if (wait) await wait;
  }
  return {
    isNull: (position) => keys[position] === null,
    compare: (a, b) => compare(keys[a] as K, keys[b] as K),
  };
}

function toInstant(text: string | null, known: Map<string, BankInstant | null>): BankInstant | null {
  if (text === null) return null;
  let instant = known.get(text);
  if (instant === undefined) {
    instant = parseInstant(text);
    known.set(text, instant);
  }
  return instant;
}

interface Current {
  readonly currency: string;
  readonly amount: string;
  /** Rounded to a double, which settles most comparisons. */
  readonly about: number;
}

/** Of the first CurrentBalance; null when there is none, or its amount or currency is not known. */
function toCurrent({ balances }: Account): Current | null {
  const balance = balances.find(({ type }) => type === 'CurrentBalance');
  if (!balance || balance.current === null || balance.currency === null) return null;
  return { currency: balance.currency, amount: balance.current, about: Number(balance.current) };
}

function compareCurrent(a: Current, b: Current): number {
  if (a.currency !== b.currency) return compareTexts(a.currency, b.currency);
  return a.about < b.about ? -1 : a.about > b.about ? 1 : compareDecimals(a.amount, b.amount);
}
