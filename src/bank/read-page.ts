import { toText } from '../egress/answer.js';
import { GatewayError } from '../problems/gateway-error.js';
import { quoteNumbers, TooManyValues } from './quote-numbers.js';
import { writeOut } from './write-out.js';

type Row = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (detail: string) => new GatewayError('bank-response-invalid', `In the account list, ${detail}.`);

/**
 * Reads a page of the account list (docs/bank.md#envelope-and-paging): the array is `result`, else the only property that is an
 * array of objects, else the document itself. `result: null` is no rows on a later page, and invalid on the first. The rows are
 * not checked yet; their numbers are texts of their digits. `path` is that of the rows, "" for a bare array.
 * @throws GatewayError bank-response-invalid, naming the place and never a value
 */
export function readPage(body: Uint8Array, pageNumber: number) {
  let json: unknown;
  try {
    json = JSON.parse(toText(quoteNumbers(body), 'the account list'));
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError(
      'bank-response-invalid',
      error instanceof TooManyValues
        ? 'The account list has too many JSON values for its length.'
        : 'The account list is not JSON.',
    );
  }
  if (Array.isArray(json)) return { rows: toRows(json, ''), path: '', rowCount: null, echoedSize: null };
  if (!isObject(json))
    throw new GatewayError('bank-response-invalid', 'The account list is neither an object nor an array.');

  const info = isObject(json['pageInfo']) ? json['pageInfo'] : json;
  const counts = { rowCount: toCount(info['rowCount']), echoedSize: toCount(info['pageSize']) || null };
  const { name, list } = findList(json);
  const path = toShown(name);
  if (list === null && pageNumber > 1) return { rows: [], path, ...counts };
  if (!Array.isArray(list)) throw invalid(`${path} is ${list === null ? 'null' : 'not an array'}`);
  return { rows: toRows(list, path), path, ...counts };
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

/** A name from the bank's document for a message; what is no plain word might be data, an IBAN say. */
const toShown = (name: string) => (/^[A-Za-z_]{1,40}$/.test(name) ? name : '*');

function toRows(list: readonly unknown[], path: string): Row[] {
  return list.map((row, index) => {
    if (!isObject(row)) throw invalid(`${path}[${index}] is not an object`);
    return row;
  });
}

/** A whole number, sent as number or text, in any form that JSON allows (120, 120.0, 1.2e2); null for anything else. */
function toCount(value: unknown): number | null {
  const written = typeof value === 'string' ? writeOut(value)?.replace(/\.0+$/, '') : undefined;
  return written !== undefined && /^0*\d{1,9}$/.test(written) ? Number(written) : null;
}
