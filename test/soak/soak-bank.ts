import type { ServerResponse } from 'node:http';
import { issueToken, json, startPretendBank, type Handler, type PretendBank } from '../support/pretend-bank.js';
import { sampleAccount } from '../support/sample-accounts.js';

export const ACCOUNTS = 120;
const TOKEN_LIFETIME_MS = 6000;

/** What the bank gave to one reading; each reading sees accounts of a version of its own. */
export interface Version {
  readonly number: number;
  readonly firstAskedAt: number;
  lastServedAt: number;
}

/** Spoils an answer; `good` gives the right one. */
export type Spoil = (response: ServerResponse, good: () => void) => void;

/** A bank that knows what it gave to whom, and can be spoiled at either endpoint. */
export interface SoakBank {
  readonly bank: PretendBank;
  readonly versions: readonly Version[];
  /** Calls for accounts with a token that was past its life. */
  readonly expired: readonly { readonly at: number; readonly ageMs: number }[];
  /** What holds now; null for nothing. */
  spoilToken: Spoil | null;
  spoilAccounts: Spoil | null;
  /** How the document of a page is changed. */
  bend: ((document: PageDocument, page: number) => object) | null;
  revokeTokens(): void;
}

interface PageDocument {
  readonly result: object[];
  readonly pageInfo: { readonly currentPage: number; readonly pageSize: number; readonly rowCount: number };
}

export async function startSoakBank(): Promise<SoakBank> {
  const bank = await startPretendBank();
  const issuedAt = new Map<string, number>();
  const byReading = new Map<string, Version>();
  const versions: Version[] = [];
  const expired: { at: number; ageMs: number }[] = [];
  const soak: SoakBank = {
    bank,
    versions,
    expired,
    spoilToken: null,
    spoilAccounts: null,
    bend: null,
    revokeTokens: () => issuedAt.clear(),
  };
  const issue = issueToken(bank, { expires_in: String(TOKEN_LIFETIME_MS / 1000) });
  bank.onToken = (request, response, url) => {
    bank.requests.length = 0;
    const good = () => {
      issue(request, response, url);
      issuedAt.set(bank.tokens.at(-1) ?? '', Date.now());
    };
    if (soak.spoilToken) soak.spoilToken(response, good);
    else good();
  };

  const list: Handler = (request, response, url) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    const issued = issuedAt.get(token);
    const ageMs = issued === undefined ? 0 : Date.now() - issued;
    if (ageMs > TOKEN_LIFETIME_MS) expired.push({ at: Date.now(), ageMs });
    if (issued === undefined || ageMs > TOKEN_LIFETIME_MS) return json(response, 401, {});

    const refreshId = String(request.headers['x-request-id']);
    let version = byReading.get(refreshId);
    if (!version) {
      version = { number: versions.length, firstAskedAt: Date.now(), lastServedAt: 0 };
      byReading.set(refreshId, version);
      versions.push(version);
    }
    version.lastServedAt = Date.now();
    const page = Number(url.searchParams.get('PageNumber'));
    const size = Number(url.searchParams.get('PageSize'));
    const first = (page - 1) * size + 1;
    const result = [];
    for (let each = first; each < Math.min(first + size, ACCOUNTS + 1); each++) {
      result.push(sampleAccount(each, { friendlyName: nameOf(each, version.number) }));
    }
    const document = { result, pageInfo: { currentPage: page, pageSize: size, rowCount: ACCOUNTS } };
    const bent = soak.bend ? soak.bend(document, page) : document;
    return json(response, 200, bent);
  };
  bank.onAccounts = (request, response, url) => {
    const good = () => void list(request, response, url);
    if (soak.spoilAccounts) soak.spoilAccounts(response, good);
    else good();
  };
  return soak;
}

export const nameOf = (account: number, version: number): string => `Operating ${account} v${version}`;
