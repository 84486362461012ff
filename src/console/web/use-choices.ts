import { client } from './gateway.js';
import { useAnswer } from './use-answer.js';

const PAGE_SIZE = 1000;
/** Pages of accounts whose values are offered as choices. */
const MAX_PAGES = 3;

/** The choices of each filter. */
export interface Choices {
  readonly statuses: readonly string[];
  readonly currencies: readonly string[];
  readonly owners: readonly { readonly id: string; readonly name: string }[];
}

/** The values that the accounts have; gathered when it is known how many they are, and again when there are more or fewer. */
export function useChoices(accounts: number | null): Choices | null {
  return useAnswer(`choices of ${accounts}`, 0, (signal) => (accounts === null ? NEVER : gather(signal))).data;
}

const NEVER = new Promise<Choices>(() => undefined);

async function gather(signal: AbortSignal): Promise<Choices> {
  const statuses = new Set<string>();
  const currencies = new Set<string>();
  const owners = new Map<string, string>();
  for (let pageNumber = 1; pageNumber <= MAX_PAGES; pageNumber += 1) {
    const { accounts, page } = await client.listAccounts({ pageNumber, pageSize: PAGE_SIZE }, { signal, retry: false });
    for (const { status, currency, owner } of accounts) {
      if (status !== null) statuses.add(status);
      if (currency !== null) currencies.add(currency);
      if (owner.id !== null) owners.set(owner.id, owner.name ?? owner.number ?? owner.id);
    }
    if (!page.hasMore) break;
  }
  const byName = new Intl.Collator('en', { numeric: true });
  return {
    statuses: [...statuses].sort(byName.compare),
    currencies: [...currencies].sort(byName.compare),
    owners: [...owners].map(([id, name]) => ({ id, name })).sort((a, b) => byName.compare(a.name, b.name)),
  };
}
