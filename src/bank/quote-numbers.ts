const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const BACKSLASH = 0x5c;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Fewer values than this are always taken. */
const MANY_VALUES = 500_000;
/** A value with its name is longer than this in any account; `[[],[],…]` would cost a hundred times its length in memory. */
const MIN_CHARS_PER_VALUE = 8;

/** The text has far more values than a list of accounts of its length can have; parsing it would stall the process. */
export class TooManyValues extends Error {}

/**
 * The same JSON with each number as a text of exactly its digits, so that JSON.parse keeps what doubles would lose
 * (19435.50, 20 digits). Text inside strings is left alone; what is no JSON number stays as it is, for JSON.parse to
 * refuse. About ten times faster than a reviver that looks at `context.source`.
 * @throws TooManyValues
 */
export function quoteNumbers(json: string): string {
  const parts: string[] = [];
  let copied = 0;
  let at = 0;
  let values = 1;
  const maxValues = Math.max(MANY_VALUES, json.length / MIN_CHARS_PER_VALUE);
  while (at < json.length) {
    const char = json.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(json, at + 1);
    } else if (char === 0x2d || (char >= 0x30 && char <= 0x39)) {
      NUMBER.lastIndex = at;
      const match = NUMBER.exec(json);
      if (!match) return json;
      const end = NUMBER.lastIndex;
      // 01, 1.e, 1-2, {1: 2}: leave the whole to JSON.parse, which refuses it
      if (!endsValue(json, end)) return json;
      parts.push(json.slice(copied, at), '"', match[0], '"');
      copied = end;
      at = end;
    } else {
      // a comma, [ or {: another value
      if ((char === COMMA || (char | 0x20) === OPENING_BRACE) && ++values > maxValues) throw new TooManyValues();
      at += 1;
    }
  }
  return parts.length === 0 ? json : parts.join('') + json.slice(copied);
}

function endOfString(json: string, from: number): number {
  let at = json.indexOf('"', from);
  while (at !== -1 && json.charCodeAt(at - 1) === BACKSLASH && isEscaped(json, at)) at = json.indexOf('"', at + 1);
  return at === -1 ? json.length : at + 1;
}

function isEscaped(json: string, quote: number): boolean {
  let slashes = 0;
  while (json.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes += 1;
  return slashes % 2 === 1;
}

/** Whether what comes next, after white space, is the end of the text, a comma, a bracket or a brace. */
function endsValue(json: string, from: number): boolean {
  let at = from;
  while (isSpace(json.charCodeAt(at))) at += 1;
  const char = json.charCodeAt(at);
  return Number.isNaN(char) || char === COMMA || char === 0x5d || char === 0x7d;
}

const isSpace = (char: number) => char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
