import { isPlainKey } from '../list/list-drift.js';
import { Digits, parseDigits } from './digits.js';
import type { Mask } from './mask.js';

/** Numbers of the envelope: without them, no page could be replayed. */
const NUMBERS = new Map([
  ...['currentPage', 'pageSize', 'rowCount', 'totalPages', 'expires_in'].map((key) => [key, /^\d{1,9}$/] as const),
  ['status', /^[45]\d\d$/] as const,
]);
/** Open lists. */
const WORDS = new Set(['status', 'type', 'protectionType']);
const WORD = /^[A-Za-z]{1,40}$/;
/** Fields whose values are codes, which are kept, with the form of a code. */
const CODES = new Map([
  ['currency', /^[A-Z]{3,4}$/],
  ['country', /^[A-Z]{2}$/],
]);
/** Texts next to a token, with their form. */
const TOKEN_TEXTS = new Map([
  ['token_type', /^bearer$/i],
  ['expires_in', /^\d{1,6}$/],
]);
/** True for a body with accounts, whatever the name of their list. */
const hasAccounts = (body: string): boolean => /"(?:result|accountId)"\s*:/.test(body);
/** An error document has no open list, and an account has no token. */
const codesIn = (body: string) => (hasAccounts(body) ? CODES : TOKEN_TEXTS);
/** Documented words are kept, wherever else they occur. */
const KNOWN_WORDS = new Set(['Active', 'Closed', 'None', 'ClientMoney', 'SafeGuarded', 'CurrentBalance']);

/** True if a word of an open list is also a word of the data. @param data from `wordsOf` of all bodies */
const isData = (word: string, data: ReadonlySet<string>): boolean =>
  data.has(word.toLowerCase()) && !KNOWN_WORDS.has(word);

/**
 * Masks a body: JSON keeps its plain keys and their order, anything else is one text.
 * @param data from `wordsOf` of all bodies
 */
export function maskBody(body: string, mask: Mask, data: ReadonlySet<string>): string {
  const isList = hasAccounts(body);
  const codes = codesIn(body);
  const masked = rewrite(body, {
    key: (key) => (isPlainKey(key) ? key : `*${mask.text(key)}`),
    text: (value, key, inAccount) =>
      codes.get(key)?.test(value) ||
      (isList && WORDS.has(key) && WORD.test(value) && !isData(value, data)) ||
      (isList && !inAccount && NUMBERS.get(key)?.test(value))
        ? value
        : mask.text(value),
    number: (value, key) => (NUMBERS.get(key)?.test(value) ? value : mask.number(value)),
  });
  return masked ?? mask.text(body);
}

/** The words of all texts in a body, in lower case, except words of an open list. */
export function wordsOf(body: string): Set<string> {
  const words = new Set<string>();
  const codes = codesIn(body);
  const add = (text: string) => {
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) words.add(word);
  };
  const masked = rewrite(body, {
    key: (key) => key,
    text: (value, key) => {
      if (!codes.has(key) && !(WORDS.has(key) && WORD.test(value))) add(value);
      return value;
    },
    number: (value) => value,
  });
  if (masked === null) add(body);
  return words;
}

interface Visitor {
  key(key: string): string;
  /** @param key of the object or list that contains the value; "" at the top */
  text(value: string, key: string, inAccount: boolean): string;
  /** @param key "" in an account: the meaning of a number there is unknown */
  number(value: string, key: string): string;
}

/**
 * A JSON document with each key, text and number replaced; null for anything else, and for a document that is nested
 * too deeply. A bare text or number from a broken service is not a document.
 */
function rewrite(body: string, visitor: Visitor): string | null {
  const [, mark, document] = /^(\ufeff?)(\s*[[{].*)$/s.exec(body) ?? [];
  if (document === undefined) return null;
  try {
    return mark + JSON.stringify(replace(parseDigits(document), '', visitor, false));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null;
    throw error;
  }
}

function replace(value: unknown, key: string, visitor: Visitor, inAccount: boolean): unknown {
  if (Array.isArray(value)) return value.map((each) => replace(each, key, visitor, inAccount));
  if (value instanceof Digits) return new Digits(visitor.number(value.text, inAccount ? '' : key));
  if (typeof value === 'string') return visitor.text(value, key, inAccount);
  if (typeof value !== 'object' || value === null) return value;
  const isInside = inAccount || Object.hasOwn(value, 'accountId');
  const entries = Object.entries(value).map(([name, each]) => [
    visitor.key(name),
    replace(each, name, visitor, isInside || name === 'result'),
  ]);
  return Object.fromEntries(entries) as unknown;
}
