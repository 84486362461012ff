import { createHash } from 'node:crypto';
import { GatewayError } from '../problems/gateway-error.js';
import type { Account } from './account.js';
import { compareTexts } from './compare-texts.js';
import { toNumbersText, toSearchText } from './fold-text.js';
import { pack, type Section } from './layout.js';
import { COLUMN_FIELDS, COLUMNS, type SnapshotHeader } from './sections.js';
import { rankAmounts, rankDates, rankNames, rankTexts, type SortedAmount } from './sort-order.js';
import { TextPile } from './text-pile.js';
import { toColumn } from './value-column.js';

/** Limit for the currencies of accounts and balances in one list (docs/bank.md#bounds). */
const MAX_CURRENCIES = 500;
/** Limit for the texts of one list: a balance of 2 bytes becomes 160 (docs/bank.md#bounds). */
const MAX_BYTES = 600_000_000;

/** Keys for finding and sorting an account. */
interface Row extends Pick<Account, 'id' | 'name' | 'currency' | 'status' | 'openedAt'> {
  /** Index of its texts. */
  readonly index: number;
  readonly columns: Readonly<Record<string, string | null>>;
  readonly current: SortedAmount | null;
}

/** Builds the bytes of a snapshot from accounts in any order. Independent of threads. */
export class SnapshotBuilder {
  readonly #rows = new Map<string, Row>();
  readonly #json = new TextPile();
  readonly #search = new TextPile();
  readonly #numbers = new TextPile();
  readonly #currencies = new Set<string>();
  readonly #maxBytes: number;
  #count = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Adds an account, in place of an earlier one with the same id. @throws GatewayError bank-response-invalid */
  add(account: Account): void {
    this.#noteCurrency(account.currency, 'currency');
    for (const { currency } of account.balances) this.#noteCurrency(currency, 'balances[].currency');
    const { id, name, currency, status, openedAt } = account;
    const columns = Object.fromEntries(COLUMN_FIELDS.map((field) => [field, COLUMNS[field](account)]));
    const index = this.#count++;
    this.#rows.set(id, { id, name, currency, status, openedAt, index, columns, current: toSortedAmount(account) });
    this.#json.push(JSON.stringify(account));
    this.#search.push(toSearchText(account));
    this.#numbers.push(toNumbersText(account));
    if (this.#json.byteLength + this.#search.byteLength + this.#numbers.byteLength <= this.#maxBytes) return;
    throw new GatewayError(
      'bank-response-invalid',
      `The account list takes more than ${this.#maxBytes} bytes of memory.`,
    );
  }

  /** The snapshot as one buffer. Nothing can be added afterwards. */
  finish({ asOf, complete }: Pick<SnapshotHeader, 'asOf' | 'complete'>): ArrayBuffer {
    const rows = [...this.#rows.values()].sort((a, b) => compareTexts(a.id, b.id));
    const order = Uint32Array.from(rows, ({ index }) => index);
    const digest = createHash('sha256');
    for (const json of this.#json.inOrder(order)) digest.update(json);
    const header: SnapshotHeader = { accounts: rows.length, asOf, complete, digest: digest.digest('base64url') };
    const columns = COLUMN_FIELDS.map((field) => {
      const { codes, values } = toColumn(rows.map((row) => row.columns[field] as string | null));
      return { [`${field}Codes`]: codes, [`${field}Values`]: values };
    });
    return pack(header, {
      ...toSections('json', this.#json, order),
      ...toSections('search', this.#search, order),
      ...toSections('numbers', this.#numbers, order),
      ...Object.assign({}, ...columns),
      nameRanks: rankNames(rows.map(({ name }) => name)),
      currencyRanks: rankTexts(rows.map(({ currency }) => currency)),
      statusRanks: rankTexts(rows.map(({ status }) => status)),
      openedAtRanks: rankDates(rows.map(({ openedAt }) => openedAt)),
      currentRanks: rankAmounts(rows.map(({ current }) => current)),
    });
  }

  #noteCurrency(currency: string | null, path: string): void {
    if (currency === null) return;
    this.#currencies.add(currency);
    if (this.#currencies.size <= MAX_CURRENCIES) return;
    throw new GatewayError(
      'bank-response-invalid',
      `In the account list, ${path} has more than ${MAX_CURRENCIES} different values.`,
    );
  }
}

function toSortedAmount({ balances }: Account): SortedAmount | null {
  const { currency, current } = balances.find(({ type }) => type === 'CurrentBalance') ?? {};
  return currency != null && current != null ? { currency, amount: current } : null;
}

function toSections(name: string, pile: TextPile, order: Uint32Array): Record<string, Section> {
  const offsets = pile.toOffsets(order);
  return {
    [`${name}Offsets`]: offsets,
    [`${name}Bytes`]: { byteLength: offsets.at(-1) ?? 0, pieces: pile.inOrder(order) },
  };
}
