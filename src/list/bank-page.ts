import { GatewayError } from '../errors/gateway-error.js';
import { readBankAccount, type BankAccount, type Row } from './bank-account.js';
import type { ListDrift } from './list-drift.js';

export interface PageFacts {
  readonly accounts: number;
  /** Accounts that were on no earlier page. */
  readonly added: number;
  /** The bank's count of all records; null without one. */
  readonly rowCount: number | null;
  /** Page size reported by the bank; null if it reports none, or 0. */
  readonly echoedSize: number | null;
}

/**
 * @param take receives each account, in order, and returns true if none before had its id; if the page is rejected,
 *   discard what it received
 * @throws GatewayError bank-response-invalid, naming the path in the document and never a value; what `take` throws
 */
export function readPage(
  number: number,
  body: Uint8Array,
  fields: ListDrift,
  take: (account: BankAccount) => boolean,
): PageFacts {
  const { rows, path, rowCount, echoedSize } = readRows(body, number);
  let added = 0;
  for (const [index, row] of rows.entries()) {
    if (take(readBankAccount(row, `${path}[${index}]`))) added += 1;
    fields.add(row);
  }
  return { accounts: rows.length, added, rowCount, echoedSize };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The rows of a page (docs/bank.md#envelope-and-paging): the document itself, if it is an array, else the array `result`,
 * else the only property that is an array of objects. `result: null` is invalid on the first page. The rows are not
 * checked yet; their named numbers are strings of their digits. `path` is the path of the array, "" for a bare one.
 * @throws GatewayError as `readPage`
 */
export function readRows(body: Uint8Array, pageNumber: number) {
  const json = parse(body);
  if (Array.isArray(json)) return { rows: toRows(json, ''), path: '', rowCount: null, echoedSize: null };
  if (!isObject(json)) {
    throw new GatewayError('bank-response-invalid', 'The account list is neither an object nor an array.');
  }
  const info = isObject(json['pageInfo']) ? json['pageInfo'] : json;
  const counts = { rowCount: toCount(info['rowCount']), echoedSize: toCount(info['pageSize']) || null };
  const { name, list } = findList(json);
  const path = toShown(name);
  if (list === null && pageNumber > 1) return { rows: [], path, ...counts };
  if (!Array.isArray(list)) throw invalid(`${path} is ${list === null ? 'null' : 'not an array'}`);
  return { rows: toRows(list, path), path, ...counts };
}

function parse(body: Uint8Array): unknown {
  if (hasTooManyValues(body)) {
    throw new GatewayError('bank-response-invalid', 'The account list has too many JSON values for its length.');
  }
  try {
    return JSON.parse(quoteNumbers(utf8.decode(body)));
  } catch {
    throw new GatewayError('bank-response-invalid', 'The account list is not JSON.');
  }
}

/** A number after its name: in JSON, a quote, a word and another quote are always a whole string, never part of one. */
const NAMED_NUMBER = /("\w+"\s*:\s*)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}])/g;

/**
 * Quotes each named number, because JSON.parse would lose digits (19435.50, 20 digits). Invalid JSON stays invalid. A
 * reviver that reads `context.source` takes several times as long.
 */
export const quoteNumbers = (json: string): string => json.replace(NAMED_NUMBER, '$1"$2"');

/** Pages of up to this many bytes may contain any number of values. */
const MAX_UNCOUNTED_BYTES = 1_048_576;
/** The values of accounts are longer on average. `[[],[],…]` would take many times its length in memory. */
const MIN_BYTES_PER_VALUE = 8;

function hasTooManyValues(body: Uint8Array): boolean {
  if (body.length <= MAX_UNCOUNTED_BYTES) return false;
  let values = 0;
  for (const byte of body) {
    // a comma, [ or {: another value follows
    if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  }
  return values > body.length / MIN_BYTES_PER_VALUE;
}

function findList(json: Row): { name: string; list: unknown } {
  if (Object.hasOwn(json, 'result')) return { name: 'result', list: json['result'] };
  const arrays = Object.entries(json).filter(([, value]) => Array.isArray(value) && value.every(isObject));
  const filled = arrays.filter(([, value]) => (value as unknown[]).length > 0);
  const [found, ...others] = filled.length > 0 ? filled : arrays;
  if (!found) throw invalid('no array of accounts is found (result is missing)');
  if (others.length > 0) throw invalid('result is missing, and more than one other array could be the accounts');
  return { name: found[0], list: found[1] };
}

/** A name in the bank's document, for a message. Anything but a plain word could be data, such as an IBAN. */
const toShown = (name: string) => (/^[A-Za-z_]{1,40}$/.test(name) ? name : '*');

function toRows(list: readonly unknown[], path: string): Row[] {
  return list.map((row, index) => {
    if (!isObject(row)) throw invalid(`${path}[${index}] is not an object`);
    return row;
  });
}

/** Null for anything but a number of at most nine digits. */
const toCount = (value: unknown) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : null);

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (detail: string) => new GatewayError('bank-response-invalid', `In the account list, ${detail}.`);
