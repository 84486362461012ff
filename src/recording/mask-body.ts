import { isPlainKey } from '../list/list-drift.js';
import { Digits, parseDigits } from './digits.js';
import type { Mask } from './mask.js';

type Kept = ReadonlyMap<string, RegExp>;

const WORD = /^[A-Za-z]{1,40}$/;

/** Values outside of an account that stay, by key. Without the numbers, no page could be replayed. */
const ENVELOPE: Kept = new Map([
  ...['currentPage', 'pageSize', 'rowCount', 'totalPages', 'expires_in'].map((key) => [key, /^\d{1,9}$/] as const),
  ['status', /^[45]\d\d$/],
  ['token_type', /^bearer$/i],
]);
/** Values of an account that stay, by key: words of the open lists, and codes. */
const ACCOUNT: Kept = new Map([
  ...['status', 'type', 'protectionType'].map((key) => [key, WORD] as const),
  ['currency', /^[A-Z]{3,4}$/],
  ['country', /^[A-Z]{2}$/],
]);

/** JSON keeps its plain keys and their order; anything else, and what is nested too deeply, is masked as one text. */
export function maskBody(body: string, mask: Mask, secrets: ReadonlySet<string>): string {
  const replace = (value: unknown, key: string, kept: Kept): unknown => {
    const form = kept.get(key);
    const stays = (text: string) => form?.test(text) && !(form === WORD && secrets.has(text.toLowerCase()));
    if (Array.isArray(value)) return value.map((each) => replace(each, key, kept));
    if (value instanceof Digits) return stays(value.text) ? value : new Digits(mask.number(value.text));
    if (typeof value === 'string') return stays(value) ? value : mask.text(value);
    if (typeof value !== 'object' || value === null) return value;
    const inside = Object.hasOwn(value, 'accountId') ? ACCOUNT : kept;
    const entries = Object.entries(value).map(([name, each]) => [
      isPlainKey(name) ? name : `*${mask.text(name)}`,
      replace(each, name, name === 'result' ? ACCOUNT : inside),
    ]);
    return Object.fromEntries(entries) as unknown;
  };
  // a bare text or number, from a broken service, is not a document
  const [, mark, document] = /^(\ufeff?)(\s*[[{].*)$/s.exec(body) ?? [];
  if (document === undefined) return mask.text(body);
  try {
    return mark + JSON.stringify(replace(parseDigits(document), '', ENVELOPE));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return mask.text(body);
    throw error;
  }
}
