import type { Account, Balance } from './account.js';

export interface CsvDialect {
  readonly separator: 'comma' | 'semicolon' | 'tab';
  readonly decimal: 'point' | 'comma';
}

const SEPARATORS = { comma: ',', semicolon: ';', tab: '\t' } as const;

type Text = string | null;
type ToAmount = (amount: Text) => string;

const ACCOUNT_COLUMNS: Readonly<Record<string, (account: Account) => Text>> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  description: ({ description }) => description,
  status: ({ status }) => status,
  currency: ({ currency }) => currency,
  iban: ({ iban }) => iban,
  ownerId: ({ owner }) => owner.id,
  ownerName: ({ owner }) => owner.name,
  ownerNumber: ({ owner }) => owner.number,
  openedAt: ({ openedAt }) => openedAt,
  closedAt: ({ closedAt }) => closedAt,
};

const BALANCE_COLUMNS: Readonly<Record<string, (balance: Balance, toAmount: ToAmount) => string>> = {
  balanceType: ({ type }) => toCell(type),
  balanceCurrency: ({ currency }) => toCell(currency),
  beginOfDay: ({ beginOfDay }, toAmount) => toAmount(beginOfDay),
  intraDay: ({ intraDay }, toAmount) => toAmount(intraDay),
  current: ({ current }, toAmount) => toAmount(current),
  blocked: ({ blocked }, toAmount) => toAmount(blocked),
  financialDate: ({ financialDate }) => toCell(financialDate),
  lastTransactionAt: ({ lastTransactionAt }) => toCell(lastTransactionAt),
};

export const CSV_COLUMNS = [...Object.keys(ACCOUNT_COLUMNS), ...Object.keys(BALANCE_COLUMNS), 'asOf'];

/** A header line, then a row for each balance of each account, or one without balance (docs/api.md#csv-and-ndjson). */
export function* toCsv(accounts: Iterable<Account>, asOf: string, dialect: CsvDialect): Generator<string> {
  const separator = SEPARATORS[dialect.separator];
  const toAmount = createAmountFormat(dialect);
  const ofAccount = Object.values(ACCOUNT_COLUMNS);
  const ofBalance = Object.values(BALANCE_COLUMNS);
  const end = `${separator}${asOf}\r\n`;
  const withoutBalance = `${separator.repeat(ofBalance.length - 1)}${end}`;
  // with the byte order mark, Excel reads UTF-8
  yield `\uFEFF${CSV_COLUMNS.join(separator)}\r\n`;
  for (const account of accounts) {
    // escaped once, however many rows repeat it
    const start = ofAccount.map((cell) => toCell(cell(account)) + separator).join('');
    if (account.balances.length === 0) yield start + withoutBalance;
    for (const balance of account.balances) {
      yield start + ofBalance.map((cell) => cell(balance, toAmount)).join(separator) + end;
    }
  }
}

/**
 * Texts that a spreadsheet may read as a formula (OWASP, CSV injection). Full-width forms count in some languages, and leading
 * white space, control and format characters are skipped.
 */
const FORMULA = /^(?:[\t\r]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u;
/** Quotes text that contains any possible separator, because programs guess which one is used. */
const QUOTED = /[",;\t\r\n]/;

function toCell(text: Text): string {
  if (text === null) return '';
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function createAmountFormat({ separator, decimal }: CsvDialect): ToAmount {
  return (amount) => {
    if (amount === null) return '';
    if (decimal === 'point' || !amount.includes('.')) return amount;
    const text = amount.replace('.', ',');
    return separator === 'comma' ? `"${text}"` : text;
  };
}
