import { stringify } from 'csv-stringify/sync';
import type { Account, Balance } from './account.js';

/** In this order (contract §3). */
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

/** The byte order mark tells Excel that it is UTF-8. */
export const CSV_HEAD = `\uFEFF${CSV_COLUMNS.join(',')}\r\n`;

/** These accounts as lines of CSV: one for each balance, one for an account without. */
export function toCsv(accounts: readonly Account[], asOf: string): string {
  const rows = accounts.flatMap((account) =>
    account.balances.length === 0
      ? [toRow(account, null, asOf)]
      : account.balances.map((balance) => toRow(account, balance, asOf)),
  );
  // a lone CR or LF would otherwise stand unquoted, and end the row for many readers
  return stringify(rows, { record_delimiter: 'windows', quoted_match: /[\r\n]/ });
}

function toRow(account: Account, balance: Balance | null, asOf: string): (string | null)[] {
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
    balance?.beginOfDay ?? null,
    balance?.intraDay ?? null,
    balance?.current ?? null,
    balance?.blocked ?? null,
    defuse(balance?.financialDate ?? null),
    defuse(balance?.lastTransactionAt ?? null),
    asOf,
  ];
}

/** A text that a spreadsheet would take for a formula gets a leading quote (OWASP, CSV injection). */
function defuse(text: string | null): string | null {
  return text !== null && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
