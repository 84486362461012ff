import { GatewayProblem } from './gateway-problem.js';
import type { Account, AccountList } from './generated/types.gen.js';

/** The largest that the gateway gives (docs/api.md#query). */
const PAGE_SIZE = 1000;
const MAX_RESTARTS = 3;

/**
 * All pages of one snapshot. Pages belong together when the bank was asked for them at the same moment (`asOf`): a tag
 * belongs to one page alone. When `asOf` changes between pages, all are asked for again, those whose data are the
 * same costing a 304 each.
 * @throws GatewayProblem snapshot-changing when that happened again after three restarts
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
