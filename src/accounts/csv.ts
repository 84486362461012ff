import { stringify } from 'csv-stringify/sync';
import type { Account, Balance } from '../snapshot/account.js';

/** In this order (docs/api.md#csv-and-ndjson). */
export const CSV_COLUMNS = [
  'id',
  'name',
  'description',
  'status',
  'currency',
  'iban',
  'ownerId',
  'ownerName',
  'ownerNumber',
  'openedAt',
  'closedAt',
  'balanceType',
  'balanceCurrency',
  'beginOfDay',
  'intraDay',
  'current',
  'blocked',
  'financialDate',
  'lastTransactionAt',
  'asOf',
] as const;

/** How spreadsheets of a country read CSV. */
export interface CsvDialect {
  readonly separator: 'comma' | 'semicolon' | 'tab';
  /** What stands between whole and fraction of an amount. */
  readonly decimal: 'point' | 'comma';
}

const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t' } as const;
/** The names of the columns; the byte order mark tells Excel that it is UTF-8. */
export function csvHead({ separator }: CsvDialect): string {
  return `\uFEFF${CSV_COLUMNS.join(SEPARATORS[separator])}\r\n`;
}

type Row = readonly (string | null)[];

/** The rows of an account: one for each balance, one for an account without. */
export function* toRows(account: Account, asOf: string, dialect: CsvDialect): Generator<Row> {
  if (account.balances.length === 0) yield toRow(account, null, asOf, dialect);
  for (const balance of account.balances) yield toRow(account, balance, asOf, dialect);
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

function toRow(account: Account, balance: Balance | null, asOf: string, { decimal }: CsvDialect): Row {
  const amount = (text: string | null = null) => (decimal === 'comma' && text !== null ? text.replace('.', ',') : text);
  return [
    defuse(account.id),
    defuse(account.name),
    defuse(account.description),
    defuse(account.status),
    defuse(account.currency),
    defuse(account.iban),
    defuse(account.owner.id),
    defuse(account.owner.name),
    defuse(account.owner.number),
    defuse(account.openedAt),
    defuse(account.closedAt),
    defuse(balance?.type ?? null),
    defuse(balance?.currency ?? null),
    amount(balance?.beginOfDay),
    amount(balance?.intraDay),
    amount(balance?.current),
    amount(balance?.blocked),
    defuse(balance?.financialDate ?? null),
    defuse(balance?.lastTransactionAt ?? null),
    asOf,
  ];
}

/**
 * A text that a spreadsheet would take for a formula gets a leading quote (OWASP, CSV injection). Control characters
 * before it do not hide one: LibreOffice drops a NUL.
 */
function defuse(text: string | null): string | null {
  return text !== null && /^(?:\p{Cc}*[=+\-@]|[\t\r])/u.test(text) ? `'${text}` : text;
}
