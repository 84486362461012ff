import { readBankAccount } from './bank-account.js';
import type { BankPage } from './read-page.js';

/** What of an account we know, nested objects by their path (bank-interface §2, bank-in-practice). */
const KNOWN = new Set([
  ...[
    'accountId',
    'accountDescription',
    'accountIdentifiers',
    'ibans',
    'status',
    'currency',
    'openingDate',
    'closingDate',
  ],
  ...['ownedByCompanyId', 'ownedByCompanyName', 'ownedByCompanyNumber', 'protectionType', 'balances', 'friendlyName'],
  ...['netInterestRate', 'interestCalcMethod', 'overdraftRate', 'overdraftRateCalcMethod'],
  ...['account', 'financialInstitution', 'country'].map((name) => `accountIdentifiers.${name}`),
  ...[
    'type',
    'currency',
    'beginOfDayAmount',
    'intraDayAmount',
    'blockedBalanceAmount',
    'financialDate',
    'lastTransactionTimestamp',
  ].map((name) => `balances.${name}`),
]);

export interface Shape {
  /** Where the accounts stand in the document. */
  readonly list: string;
  readonly rowCountGiven: boolean;
  readonly pageSizeEchoed: boolean;
  readonly unknownFields: readonly string[];
  /** Fields that no account of the page has. */
  readonly missingFields: readonly string[];
}

/**
 * How a page of the bank's compares with what we know of it; names only, never a value.
 * @throws GatewayError bank-response-invalid when an account can't be read
 */
export function describeShape(page: BankPage): Shape {
  const seen = new Set<string>();
  page.rows.forEach((row, index) => {
    readBankAccount(row, `${page.path}[${index}]`);
    for (const [name, value] of Object.entries(row)) {
      seen.add(name);
      if (!Array.isArray(value)) continue;
      for (const item of value as unknown[]) {
        if (typeof item === 'object' && item !== null)
          for (const inner of Object.keys(item)) seen.add(`${name}.${inner}`);
      }
    }
  });
  return {
    list: page.path === '' ? '(a bare array)' : page.path,
    rowCountGiven: page.rowCount !== null,
    pageSizeEchoed: page.echoedSize !== null,
    unknownFields: [...seen].filter((name) => !KNOWN.has(name)).map(toShown),
    missingFields: page.rows.length === 0 ? [] : [...KNOWN].filter((name) => !seen.has(name)),
  };
}

/** A field's name comes from outside: short, and on one line. */
const toShown = (name: string) => name.replace(/[^\x20-\x7e]/g, '?').slice(0, 60);
