import { GatewayError } from '../problems/gateway-error.js';

/**
 * An account in the bank's words (bank-interface §2, bank-in-practice). Numbers are texts of their digits; what is null,
 * missing or "" is null.
 */
export interface BankAccount {
  readonly accountId: string;
  readonly accountDescription: string | null;
  readonly accountIdentifiers: readonly BankIdentifier[];
  readonly ibans: readonly string[];
  readonly status: string | null;
  readonly currency: string | null;
  readonly openingDate: string | null;
  readonly closingDate: string | null;
  readonly ownedByCompanyId: string | null;
  readonly ownedByCompanyName: string | null;
  readonly ownedByCompanyNumber: string | null;
  readonly protectionType: string | null;
  readonly balances: readonly BankBalance[];
  readonly friendlyName: string | null;
  readonly netInterestRate: string | null;
  readonly interestCalcMethod: string | null;
  readonly overdraftRate: string | null;
  readonly overdraftRateCalcMethod: string | null;
}

export interface BankIdentifier {
  readonly account: string | null;
  readonly financialInstitution: string | null;
  readonly country: string | null;
}

export interface BankBalance {
  readonly type: string | null;
  readonly currency: string | null;
  readonly beginOfDayAmount: string | null;
  readonly intraDayAmount: string | null;
  readonly blockedBalanceAmount: string | null;
  readonly financialDate: string | null;
  readonly lastTransactionTimestamp: string | null;
}

type Row = Readonly<Record<string, unknown>>;

/** Only what can't be read makes an account invalid; what is missing, new or unknown does not. */
export function readBankAccount(row: Row, path: string): BankAccount {
  const accountId = text(row, 'accountId', path);
  if (accountId === null) throw invalid(`${path}.accountId`, 'is missing');
  return {
    accountId,
    accountDescription: text(row, 'accountDescription', path),
    accountIdentifiers: objects(row, 'accountIdentifiers', path).map(([each, at]) => ({
      account: text(each, 'account', at),
      financialInstitution: text(each, 'financialInstitution', at),
      country: text(each, 'country', at),
    })),
    ibans: list(row, 'ibans', path)
      .map((each, index) => toText(each, `${path}.ibans[${index}]`))
      .filter((iban) => iban !== null),
    status: text(row, 'status', path),
    currency: text(row, 'currency', path),
    openingDate: text(row, 'openingDate', path),
    closingDate: text(row, 'closingDate', path),
    ownedByCompanyId: text(row, 'ownedByCompanyId', path),
    ownedByCompanyName: text(row, 'ownedByCompanyName', path),
    ownedByCompanyNumber: text(row, 'ownedByCompanyNumber', path),
    protectionType: text(row, 'protectionType', path),
    balances: objects(row, 'balances', path).map(([each, at]) => ({
      type: text(each, 'type', at),
      currency: text(each, 'currency', at),
      beginOfDayAmount: decimal(each, 'beginOfDayAmount', at),
      intraDayAmount: decimal(each, 'intraDayAmount', at),
      blockedBalanceAmount: decimal(each, 'blockedBalanceAmount', at),
      financialDate: text(each, 'financialDate', at),
      lastTransactionTimestamp: text(each, 'lastTransactionTimestamp', at),
    })),
    friendlyName: text(row, 'friendlyName', path),
    netInterestRate: decimal(row, 'netInterestRate', path),
    interestCalcMethod: text(row, 'interestCalcMethod', path),
    overdraftRate: decimal(row, 'overdraftRate', path),
    overdraftRateCalcMethod: text(row, 'overdraftRateCalcMethod', path),
  };
}

function invalid(path: string, problem: string): GatewayError {
  return new GatewayError('bank-response-invalid', `In the account list, ${path} ${problem}.`);
}

function text(row: Row, name: string, path: string): string | null {
  const value = row[name];
  // by far the most frequent case first
  if (typeof value === 'string') return value === '' ? null : value;
  return value === null || value === undefined ? null : toText(value, `${path}.${name}`);
}

function toText(value: unknown, path: string): string | null {
  if (value === null || value === '') return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  throw invalid(path, 'is not a text');
}

const MAX_DIGITS = 400;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** A decimal with the digits that the bank sent; an exponent is written out, up to 400 digits (contract §3). */
function decimal(row: Row, name: string, path: string): string | null {
  const value = row[name];
  if (value === null || value === undefined || value === '') return null;
  const written = typeof value === 'string' ? writeOut(value) : null;
  if (written === null) throw invalid(`${path}.${name}`, `is no number, or has more than ${MAX_DIGITS} digits`);
  return written;
}

/** The decimal without exponent: 1.5e3 → 1500, 25E-4 → 0.0025; null when it is none or too long. */
export function writeOut(text: string): string | null {
  const match = DECIMAL.exec(text);
  if (!match) return null;
  const [, sign = '', whole = '', fraction = '', exponent] = match;
  if (whole.length + fraction.length > MAX_DIGITS) return null;
  if (exponent === undefined) return text;
  const shift = Number(exponent);
  if (Math.abs(shift) > MAX_DIGITS) return null;
  const digits = whole + fraction;
  const point = whole.length + shift;
  const left =
    point <= 0
      ? '0'
      : digits
          .slice(0, point)
          .padEnd(point, '0')
          .replace(/^0+(?=\d)/, '');
  const right = point < 0 ? '0'.repeat(-point) + digits : digits.slice(Math.max(point, 0));
  if (left.length + right.length > MAX_DIGITS) return null;
  return sign + left + (right === '' ? '' : `.${right}`);
}

/** Of balances, identifiers or IBANs of one account. */
const MAX_ENTRIES = 10_000;

function list(row: Row, name: string, path: string): readonly unknown[] {
  const value = row[name];
  if (value === null || value === undefined || value === '') return [];
  if (!Array.isArray(value)) throw invalid(`${path}.${name}`, 'is not an array');
  if (value.length > MAX_ENTRIES) throw invalid(`${path}.${name}`, `has more than ${MAX_ENTRIES} entries`);
  return value as unknown[];
}

function objects(row: Row, name: string, path: string): [Row, string][] {
  return list(row, name, path).flatMap((value, index): [Row, string][] => {
    const at = `${path}.${name}[${index}]`;
    if (value === null) return [];
    if (typeof value !== 'object' || Array.isArray(value)) throw invalid(at, 'is not an object');
    return [[value as Row, at]];
  });
}
