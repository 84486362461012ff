import { GatewayProblem } from './gateway-problem.js';
import type { Account, AccountList } from './generated/types.gen.js';

/** Maximum page size of the gateway (docs/api.md#query). */
const PAGE_SIZE = 1000;
const MAX_RESTARTS = 3;

/**
 * Fetches all pages of one snapshot. Pages belong together if they have the same `asOf`; an ETag covers only one page.
 * If `asOf` changes between pages, all are requested again. @throws GatewayProblem snapshot-changing if it changes again
 * after three restarts
 */
export async function gatherAccounts(
  readPage: (page: { pageNumber: number; pageSize: number }) => Promise<AccountList>,
): Promise<Account[]> {
  for (let restarts = 0; restarts <= MAX_RESTARTS; restarts += 1) {
    const accounts = await gatherOnce(readPage);
    if (accounts) return accounts;
  }
  throw new GatewayProblem({
    code: 'snapshot-changing',
    owner: 'caller',
    message: 'The snapshot changed between pages each time.',
  });
}

async function gatherOnce(readPage: Parameters<typeof gatherAccounts>[0]): Promise<Account[] | null> {
  const accounts: Account[] = [];
  let asOf: string | null = null;
  for (let pageNumber = 1; ; pageNumber += 1) {
    const list = await readPage({ pageNumber, pageSize: PAGE_SIZE });
    asOf ??= list.snapshot.asOf;
    if (list.snapshot.asOf !== asOf) return null;
    for (const account of list.accounts) accounts.push(account);
    if (!list.page.hasMore) return accounts;
  }
}
