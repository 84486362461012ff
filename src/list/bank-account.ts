import { GatewayError } from '../errors/gateway-error.js';

/** @throws FieldInvalid */
type Field<T> = (value: unknown) => T;

export type Fields = Readonly<Record<string, Field<unknown>>>;

type Read<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** A JSON object of the bank. */
export type Row = Readonly<Record<string, unknown>>;

/** It collects the path on its way up, and never contains the value. */
class FieldInvalid extends Error {
  path = '';

  in(part: string | number): this {
    const separator = this.path === '' || this.path.startsWith('[') ? '' : '.';
    this.path = (typeof part === 'number' ? `[${part}]` : part) + separator + this.path;
    return this;
  }
}

// docs/bounds.md#the-bank
const MAX_TEXT = 4000;
const MAX_ID = 200;
const MAX_CURRENCY = 10;
const MAX_ENTRIES = 100;
const MAX_DIGITS = 400;

/** Well-formed Unicode without NUL, for every format of the answers. Null, missing and "" become null. */
const textUpTo =
  (max: number): Field<string | null> =>
  (value) => {
    if (typeof value === 'string') {
      if (value.length > max) throw new FieldInvalid(`has more than ${max} characters`);
      return value.toWellFormed().replaceAll('\0', '') || null;
    }
    if (value === null || value === undefined) return null;
    if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
    throw new FieldInvalid('is not a string');
  };

const text = textUpTo(MAX_TEXT);
const id = textUpTo(MAX_ID);
const currency = textUpTo(MAX_CURRENCY);

const requiredId: Field<string> = (value) => {
  const found = id(value);
  if (found === null) throw new FieldInvalid('is missing');
  return found;
};

/** The digits that the bank sent, without an exponent (docs/bank.md#amounts): `readRows` has quoted them. */
const decimal: Field<string | null> = (value) => {
  if (value === null || value === undefined || value === '') return null;
  const written = typeof value === 'string' && value.length <= MAX_TEXT ? writeOut(value) : null;
  if (written === null) throw new FieldInvalid('is not a number, or has more than 400 digits');
  return written;
};

/** A list without its null entries. */
const listOf =
  <T>(entry: Field<T>): Field<readonly NonNullable<T>[]> =>
  (value) => {
    if (value === null || value === undefined || value === '') return [];
    if (!Array.isArray(value)) throw new FieldInvalid('is not an array');
    if (value.length > MAX_ENTRIES) throw new FieldInvalid(`has more than ${MAX_ENTRIES} entries`);
    const entries = value.map((each, index) => readAt(index, entry, each));
    return entries.filter((each) => each !== null && each !== undefined);
  };

function objectOf<F extends Fields>(fields: F): Field<Read<F> | null> {
  const all = Object.entries(fields);
  return (value) => {
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value)) throw new FieldInvalid('is not an object');
    const found: Record<string, unknown> = {};
    for (const [name, field] of all) found[name] = readAt(name, field, (value as Row)[name]);
    return found as Read<F>;
  };
}

export const IDENTIFIER_FIELDS = { account: text, financialInstitution: text, country: text };

export const BALANCE_FIELDS = {
  type: text,
  currency,
  beginOfDayAmount: decimal,
  intraDayAmount: decimal,
  blockedBalanceAmount: decimal,
  financialDate: text,
  lastTransactionTimestamp: text,
};

/** Every known field of the bank's account (docs/bank.md#fields-of-an-account); any other is drift. */
export const ACCOUNT_FIELDS = {
  accountId: requiredId,
  accountDescription: text,
  accountIdentifiers: listOf(objectOf(IDENTIFIER_FIELDS)),
  ibans: listOf(text),
  status: text,
  currency,
  openingDate: text,
  closingDate: text,
  ownedByCompanyId: id,
  ownedByCompanyName: text,
  ownedByCompanyNumber: text,
  protectionType: text,
  balances: listOf(objectOf(BALANCE_FIELDS)),
  friendlyName: text,
  netInterestRate: decimal,
  interestCalcMethod: text,
  overdraftRate: decimal,
  overdraftRateCalcMethod: text,
} satisfies Fields;

export type BankAccount = Read<typeof ACCOUNT_FIELDS>;
export type BankBalance = Read<typeof BALANCE_FIELDS>;

const account = objectOf(ACCOUNT_FIELDS);

/**
 * Reads one account. A field that cannot be read makes it invalid, as does a missing id; any other missing field, or an
 * unknown one, does not.
 * @param path of the account in the document
 * @throws GatewayError bank-response-invalid, naming the field and never a value
 */
export function readBankAccount(row: Row, path: string): BankAccount {
  try {
    return readAt(path, account, row) as BankAccount;
  } catch (error) {
    if (!(error instanceof FieldInvalid)) throw error;
    throw new GatewayError('bank-response-invalid', `In the account list, ${error.path} ${error.message}.`);
  }
}

function readAt<T>(part: string | number, field: Field<T>, value: unknown): T {
  try {
    return field(value);
  } catch (error) {
    throw error instanceof FieldInvalid ? error.in(part) : error;
  }
}

const PLAIN = /^-?\d+(?:\.\d+)?$/;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The decimal without exponent: 25E-4 → 0.0025; null for another text, or more than 400 digits. */
export function writeOut(text: string): string | null {
  // most are already
  if (text.length <= MAX_DIGITS && PLAIN.test(text)) return text;
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
