import fc from 'fast-check';
import { readBankAccount } from '../../src/list/bank-account.js';
import { toAccount, type Account, type Balance } from '../../src/list/account.js';
import { AccountList } from '../../src/list/account-list.js';
import type { GatewayError } from '../../src/errors/gateway-error.js';
import { ListService } from '../../src/list/list-service.js';
import type { SnapshotFacts } from '../../src/list/document-schemas.js';
import type { Export, Query } from '../../src/list/queries.js';
import type { Sliced } from '../../src/list/slices.js';
import type { Snapshot } from '../../src/snapshot/snapshot-source.js';
import type { Instant } from '../../src/time/clock.js';

export const balance = (change: Partial<Balance> = {}): Balance => ({
  type: 'CurrentBalance',
  currency: 'EUR',
  beginOfDay: '1.10',
  intraDay: '0.10',
  current: '1.20',
  blocked: null,
  financialDate: '2026-11-20T00:00:00+00:00',
  lastTransactionAt: null,
  ...change,
});

const PLAIN = { accountId: 'a-1', friendlyName: 'Operating 1', status: 'Active', currency: 'EUR' };

/** An account with only an id, a name, a status and a currency. */
export const account = (change: Partial<Account> = {}): Account => ({
  ...toAccount(readBankAccount(PLAIN, '')),
  ...change,
});

/** A list of these accounts that runs in this thread. */
export function accountListOf(accounts: readonly Account[]): AccountList {
  const list = new AccountList();
  for (const each of accounts) list.add(each);
  return list;
}

/** Runs work in steps to its end, without a pause, and returns its result. */
export function resultOf<T>(steps: Sliced<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Replaces the list thread: the same service, called directly. */
export class LocalList {
  hasEnded = false;
  readonly #lost = Promise.withResolvers<GatewayError>();
  readonly lost = this.#lost.promise;
  readonly #service = new ListService();
  #documents = 0;

  constructor(accounts: readonly Account[] = []) {
    this.#service.restore(Buffer.from(JSON.stringify(accounts)));
  }

  async takePage(number: number, body: Buffer) {
    return this.#service.takePage(number, body);
  }

  async finish() {
    return this.#service.finish();
  }

  async document(query: Query, facts: SnapshotFacts, signal: AbortSignal) {
    return this.#service.document(query, facts, signal);
  }

  async *pieces(asked: Query | Export, facts: SnapshotFacts, signal: AbortSignal) {
    this.#documents += 1;
    const document = this.#documents;
    for (;;) {
      const piece = await this.#service.nextPiece(document, asked, facts, signal);
      if (piece === null) return;
      yield piece;
    }
  }

  async toJson(maxBytes: number) {
    return this.#service.toJson(maxBytes);
  }

  /** Ends like a thread that dies. */
  lose(error: GatewayError): void {
    this.hasEnded = true;
    this.#lost.resolve(error);
  }

  retire(): void {
    this.hasEnded = true;
  }

  async end() {
    this.retire();
  }
}

/** A snapshot of these accounts. */
export function snapshotOf(
  accounts: readonly Account[],
  complete: boolean | null = true,
  askedAt: Instant = { wall: Date.UTC(2026, 10, 21), monotonic: 0 },
  durationMs = 5,
  source: Snapshot['source'] = 'bank',
): Snapshot {
  const asOf = new Date(askedAt.wall).toISOString();
  return {
    list: new LocalList(accounts),
    size: accounts.length,
    askedAt,
    asOf,
    durationMs,
    complete,
    pages: 1,
    source,
  };
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 4 });

/** Amounts of all sizes, with and without trailing zeros. */
export const amounts: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.nat({ max: 30 }).map(String), fc.stringMatching(/^[1-9]\d{0,30}$/)),
    fc.oneof(fc.constantFrom('', '.0', '.5', '.50', '.500'), fc.stringMatching(/^\.\d{1,20}$/)),
  )
  .map((parts) => parts.join(''));

const places = (text: string) => text.split('.')[1]?.length ?? 0;
/** The sum of decimals, computed directly with BigInt. */
export function plainSum(texts: readonly string[]): string {
  const most = Math.max(0, ...texts.map(places));
  const total = texts.reduce((sum, text) => sum + BigInt(text.replace('.', '') + '0'.repeat(most - places(text))), 0n);
  const digits = String(total < 0n ? -total : total).padStart(most + 1, '0');
  return (total < 0n ? '-' : '') + (most ? `${digits.slice(0, -most)}.${digits.slice(-most)}` : digits);
}

export const names = fc.oneof(
  fc.constantFrom('Operating 2', 'Operating 10', 'operating 2', 'Löhne 01', 'Lohne 1', 'LÖHNE 1', 'Straße', 'STRASSE'),
  fc.constantFrom('Ünal', 'Ærø', 'Zebra', 'zebra', '東京', '=1', '-1', '', ' a', 'é', 'e\u0301', 'İstanbul', 'ς', 'Σ'),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
);

const dates = fc.constantFrom(
  '2023-02-21T00:00:00+00:00',
  '2023-02-21',
  '2023-02-21T02:00:00+02:00',
  '2023-02-21T00:00:00.0000001Z',
  '2023-02-21T00:00:00.000000Z',
  '0001-01-01T00:00:00',
  '1999-12-31T23:59:59.999-11:30',
  '2025-07-08',
  'soon',
);

const ibans = fc.constantFrom('DE89370400440532013000', 'DE89 3704 0044 0532 0130 00', 'dk5000400440116243', '12345');

const accountWithoutId: fc.Arbitrary<Omit<Account, 'id'>> = fc
  .record({
    name: names,
    description: maybe(names),
    status: maybe(fc.constantFrom('Active', 'active', 'Closed', 'Ødelagt')),
    currency: maybe(fc.constantFrom('EUR', 'eur', 'USD', 'USDC')),
    ibans: fc.array(ibans, { maxLength: 2 }),
    identifiers: fc.array(
      maybe(ibans).map((text) => ({ account: text, financialInstitution: null, country: null })),
      { maxLength: 2 },
    ),
    owner: fc.record({ id: maybe(fc.constantFrom('owner-1', 'Owner-2')), name: maybe(names), number: maybe(ibans) }),
    openedAt: maybe(dates),
    balances: fc.array(
      fc
        .record({
          type: maybe(fc.constantFrom('CurrentBalance', 'Other')),
          currency: maybe(fc.constantFrom('EUR', 'USD')),
          beginOfDay: maybe(amounts),
          intraDay: maybe(amounts),
          current: maybe(amounts),
          financialDate: maybe(dates),
        })
        .map(balance),
      { maxLength: 3 },
    ),
  })
  .map((change) => account(change));

const ids = fc.uniqueArray(fc.stringMatching(/^[a-e0-3]{1,3}$/), { maxLength: 40 });

/** Lists of accounts in any order, without repeated ids. */
export const accountLists: fc.Arbitrary<Account[]> = ids.chain((all) =>
  fc.tuple(...all.map((id) => accountWithoutId.map((rest) => ({ ...rest, id })))),
);
