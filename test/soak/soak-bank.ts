import { issueToken, json, startPretendBank, type Handler, type PretendBank } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';

export const ACCOUNTS = 120;
const TOKEN_LIFETIME_MS = 6000;

/** What the bank gave to one refresh; each refresh sees a version of the accounts that no other sees. */
export interface Version {
  readonly number: number;
  readonly firstAskedAt: number;
  lastServedAt: number;
}

/** The scripted bank, which remembers what it gave to whom, and can be spoiled at either endpoint. */
export interface SoakBank {
  readonly bank: PretendBank;
  readonly versions: readonly Version[];
  /** What answers now; null for the bank itself. */
  spoilToken: Handler | null;
  spoilAccounts: Handler | null;
  /** The list lacks an account that is counted. */
  isShort: boolean;
  revokeTokens(): void;
}

export const nameOf = (account: number, version: number): string => `Operating ${account} v${version}`;

export async function startSoakBank(): Promise<SoakBank> {
  const bank = await startPretendBank();
  const issuedAt = new Map<string, number>();
  const byRefresh = new Map<string, Version>();
  const versions: Version[] = [];
  const soak: SoakBank = {
    bank,
    versions,
    spoilToken: null,
    spoilAccounts: null,
    isShort: false,
    revokeTokens: () => issuedAt.clear(),
  };
  const issue = issueToken(bank, { expires_in: String(TOKEN_LIFETIME_MS / 1000) });
  bank.onToken = (request, response, url) => {
    bank.requests.length = 0;
    if (soak.spoilToken) return soak.spoilToken(request, response, url);
    issue(request, response, url);
    return void issuedAt.set(bank.tokens.at(-1) ?? '', Date.now());
  };
  bank.onAccounts = (request, response, url) => {
    if (soak.spoilAccounts) return soak.spoilAccounts(request, response, url);
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (Date.now() - (issuedAt.get(token) ?? 0) > TOKEN_LIFETIME_MS) return json(response, 401, {});
    const refreshId = String(request.headers['x-request-id']);
    const version = byRefresh.get(refreshId) ?? { number: versions.length, firstAskedAt: Date.now(), lastServedAt: 0 };
    if (!byRefresh.has(refreshId)) versions.push(version);
    byRefresh.set(refreshId, version);
    version.lastServedAt = Date.now();
    const [page, size] = [Number(url.searchParams.get('PageNumber')), Number(url.searchParams.get('PageSize'))];
    const all = Array.from({ length: ACCOUNTS }, (_, index) => index + 1).slice((page - 1) * size, page * size);
    const result = all.map((each) => sampleAccount(each, { friendlyName: nameOf(each, version.number) }));
    const pageInfo = { currentPage: page, pageSize: size, rowCount: ACCOUNTS };
    return json(response, 200, { result: soak.isShort ? result.slice(page - 1) : result, pageInfo });
  };
  return soak;
}
