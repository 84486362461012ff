import type { Account } from './gateway.js';

/** The balance that the list shows, and that `sort=current` goes by: the first of type CurrentBalance. */
export const currentBalance = ({ balances }: Account): Account['balances'][number] | null =>
  balances.find(({ type }) => type === 'CurrentBalance') ?? null;
