import type { Account } from './gateway.js';

/** The balance that the list shows, and that `sort=current` goes by: the first of type CurrentBalance. */
export const currentBalance = ({ balances }: Account): Account['balances'][number] | null =>
  balances.find(({ type }) => type === 'CurrentBalance') ?? null;

/** The balances of the accounts of a list, by id. */
export type Balances = ReadonlyMap<string, string>;

export const balancesOf = (accounts: readonly Account[]): Balances =>
  new Map(accounts.map(({ id, balances }) => [id, JSON.stringify(balances)]));

/** The ids of the accounts of both lists whose balances are others than before. */
export const movedSince = (before: Balances, now: Balances): ReadonlySet<string> =>
  new Set([...now.keys()].filter((id) => before.has(id) && before.get(id) !== now.get(id)));
