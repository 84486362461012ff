import { issueToken, json, startPretendBank, type Handler, type PretendBank } from '../../support/pretend-bank.js';
import { sampleAccount } from '../../support/sample-accounts.js';

export const ACCOUNTS = 120;
const TOKEN_LIFETIME_MS = 6000;

/** The list that the bank sent in one refresh. Each refresh gets a different version of the accounts. */
export interface Version {
  readonly number: number;
  readonly firstAskedAt: number;
  lastServedAt: number;
}

export const nameOf = (account: number, version: number): string => `Operating ${account} v${version}`;

/** A scripted bank. It records the versions that it sent, and each endpoint can be made to fail. */
export class SoakBank {
  readonly versions: Version[] = [];
  /** Handle all requests of an endpoint in place of the bank; null if it works. */
  spoilToken: Handler | null = null;
  spoilAccounts: Handler | null = null;
  /** True while the list lacks accounts that its row count includes. */
  isShort = false;
  readonly #issuedAt = new Map<string, number>();
  readonly #byRefresh = new Map<string, Version>();

  static async start(): Promise<SoakBank> {
    return new SoakBank(await startPretendBank());
  }

  private constructor(readonly bank: PretendBank) {
    const issue = issueToken(bank, { expires_in: String(TOKEN_LIFETIME_MS / 1000) });
    bank.onToken = (...args) => {
      bank.requests.length = 0;
      if (this.spoilToken) return this.spoilToken(...args);
      issue(...args);
      return void this.#issuedAt.set(bank.tokens.at(-1) ?? '', Date.now());
    };
    bank.onAccounts = (...args) => (this.spoilAccounts ?? this.#list)(...args);
  }

  revokeTokens(): void {
    this.#issuedAt.clear();
  }

  readonly #list: Handler = (request, response, url) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (Date.now() - (this.#issuedAt.get(token) ?? 0) > TOKEN_LIFETIME_MS) return json(response, 401, {});
    const { number } = this.#versionOf(String(request.headers['x-request-id']));
    const [page, size] = [Number(url.searchParams.get('PageNumber')), Number(url.searchParams.get('PageSize'))];
    const all = Array.from({ length: ACCOUNTS }, (_, index) => index + 1).slice((page - 1) * size, page * size);
    const result = all.map((each) => sampleAccount(each, { friendlyName: nameOf(each, number) }));
    const pageInfo = { currentPage: page, pageSize: size, rowCount: ACCOUNTS };
    return json(response, 200, { result: this.isShort ? result.slice(page - 1) : result, pageInfo });
  };

  #versionOf(refreshId: string): Version {
    const now = Date.now();
    const version = this.#byRefresh.get(refreshId) ?? {
      number: this.versions.length,
      firstAskedAt: now,
      lastServedAt: now,
    };
    this.#byRefresh.set(refreshId, version);
    this.versions[version.number] = version;
    version.lastServedAt = now;
    return version;
  }
}
