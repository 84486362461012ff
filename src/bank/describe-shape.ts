import { ACCOUNT_FIELDS, fieldsWithin, readBankAccount } from './account-fields.js';
import { quoteNumbers } from './quote-numbers.js';
import { readPage } from './read-page.js';

/** What stands around the list (docs/bank.md#envelope-and-paging). */
const ENVELOPE_FIELDS = new Set(['pageInfo', 'currentPage', 'pageSize', 'rowCount']);

const MAX_NAMES = 50;

interface Shape {
  /** Where the accounts stand in the document: `result[]`, or `[]` for a bare array. */
  readonly list: string;
  readonly rowCountGiven: boolean;
  readonly pageSizeEchoed: boolean;
  /** Paths in the document, such as `result[].balances[].availableAmount`; at most 50. */
  readonly unknownFields: readonly string[];
  /** Known fields that no account of the page has, by the same paths. */
  readonly missingFields: readonly string[];
}

/**
 * How the text of a page of the bank's compares with what we know of it (docs/bank.md#fields-of-an-account); names
 * only, never a value.
 * @throws GatewayError bank-response-invalid when the page or an account cannot be read
 */
export function describeShape(text: string): Shape {
  const page = readPage(text, 1);
  const list = `${page.path}[]`;
  const seen = new Set<string>();
  const known = new Set(Object.keys(ACCOUNT_FIELDS).map((name) => `${list}.${name}`));
  page.rows.forEach((row, index) => {
    readBankAccount(row, `${page.path}[${index}]`);
    for (const [name, value] of Object.entries(row)) {
      const path = `${list}.${name}`;
      seen.add(path);
      const inner = fieldsWithin(name);
      if (inner.length === 0 || !Array.isArray(value) || value.length === 0) continue;
      for (const each of inner) known.add(`${path}[].${each}`);
      for (const item of value as unknown[]) for (const each of namesOf(item)) seen.add(`${path}[].${each}`);
    }
  });
  return {
    list: toShown(list),
    rowCountGiven: page.rowCount !== null,
    pageSizeEchoed: page.echoedSize !== null,
    unknownFields: [...unknownAround(text, page.path), ...[...seen].filter((path) => !known.has(path))]
      .slice(0, MAX_NAMES)
      .map(toShown),
    missingFields: page.rows.length === 0 ? [] : [...known].filter((path) => !seen.has(path)),
  };
}

function unknownAround(text: string, list: string): string[] {
  const json: unknown = JSON.parse(quoteNumbers(text));
  if (Array.isArray(json)) return [];
  const { pageInfo } = json as { pageInfo?: unknown };
  const unknown = (name: string) => !ENVELOPE_FIELDS.has(name);
  return [
    ...namesOf(json).filter((name) => name !== list && unknown(name)),
    ...namesOf(pageInfo)
      .filter(unknown)
      .map((name) => `pageInfo.${name}`),
  ];
}

const namesOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];

/** A field's name comes from outside: short, on one line, and without digits that may be an account number or an amount. */
const toShown = (path: string) =>
  path
    .replace(/[^\x20-\x7e]/g, '?')
    .replace(/\d{3,}/g, '#')
    .slice(0, 100);
