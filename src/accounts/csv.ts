import { stringify } from 'csv-stringify/sync';
import type { Account, Balance } from '../snapshot/account.js';

/** How spreadsheets of a country read CSV. */
export interface CsvDialect {
  readonly separator: 'comma' | 'semicolon' | 'tab';
  /** What stands between whole and fraction of an amount. */
  readonly decimal: 'point' | 'comma';
}

const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t' } as const;

/** What a row is made of. */
interface RowParts {
  readonly account: Account;
  readonly balance: Balance | null;
  readonly asOf: string;
  /** Writes an amount in the dialect. */
  readonly amount: (text: string | null | undefined) => string | null;
}

/** Each column with what stands in it, in this order (docs/api.md#csv-and-ndjson). */
const COLUMNS: Readonly<Record<string, (parts: RowParts) => string | null>> = {
  id: ({ account }) => defuse(account.id),
  name: ({ account }) => defuse(account.name),
  description: ({ account }) => defuse(account.description),
  status: ({ account }) => defuse(account.status),
  currency: ({ account }) => defuse(account.currency),
  iban: ({ account }) => defuse(account.iban),
  ownerId: ({ account }) => defuse(account.owner.id),
  ownerName: ({ account }) => defuse(account.owner.name),
  ownerNumber: ({ account }) => defuse(account.owner.number),
  openedAt: ({ account }) => defuse(account.openedAt),
  closedAt: ({ account }) => defuse(account.closedAt),
  balanceType: ({ balance }) => defuse(balance?.type),
  balanceCurrency: ({ balance }) => defuse(balance?.currency),
  beginOfDay: ({ balance, amount }) => amount(balance?.beginOfDay),
  intraDay: ({ balance, amount }) => amount(balance?.intraDay),
  current: ({ balance, amount }) => amount(balance?.current),
  blocked: ({ balance, amount }) => amount(balance?.blocked),
  financialDate: ({ balance }) => defuse(balance?.financialDate),
  lastTransactionAt: ({ balance }) => defuse(balance?.lastTransactionAt),
  asOf: ({ asOf }) => asOf,
};
export const CSV_COLUMNS = Object.keys(COLUMNS);
const CELLS = Object.values(COLUMNS);

/** The names of the columns; the byte order mark tells Excel that it is UTF-8. */
export function csvHead({ separator }: CsvDialect): string {
  return `\uFEFF${CSV_COLUMNS.join(SEPARATORS[separator])}\r\n`;
}

type Row = readonly (string | null)[];

/** The rows of an account: one for each balance, one for an account without. */
export function* toRows(account: Account, asOf: string, { decimal }: CsvDialect): Generator<Row> {
  const amount: RowParts['amount'] = (text = null) => (decimal === 'comma' ? (text?.replace('.', ',') ?? null) : text);
  const balances = account.balances.length === 0 ? [null] : account.balances;
  for (const balance of balances) {
    const parts = { account, balance, asOf, amount };
    yield CELLS.map((cell) => cell(parts));
  }
}

/** Rows as lines of CSV. */
export function toCsv(rows: readonly Row[], { separator }: CsvDialect): string {
  return stringify([...rows], {
    delimiter: SEPARATORS[separator],
    record_delimiter: 'windows',
    // a lone CR or LF would otherwise stand unquoted, and end the row for many readers
    quoted_match: /[\r\n]/,
  });
}

/**
 * A text that a spreadsheet would take for a formula gets a leading quote (OWASP, CSV injection). Control characters
 * before it do not hide one: LibreOffice drops a NUL.
 */
function defuse(text: string | null = null): string | null {
  return text !== null && /^(?:\p{Cc}*[=+\-@]|[\t\r])/u.test(text) ? `'${text}` : text;
}
