const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** Bit mask that makes [ equal to {, and E equal to e. */
const LOWER = 0x20;

/** Documents with fewer values are always accepted. */
const MANY_VALUES = 500_000;
/** A value with its name is longer than this in any account; `[[],[],…]` would cost a hundred times its length in memory. */
const MIN_BYTES_PER_VALUE = 8;

/** The JSON has far more values than an account list of its length can have; parsing it would fill the memory. */
export class TooManyValues extends Error {}

/**
 * The same JSON (UTF-8) with each number as a text of exactly its digits, so that JSON.parse keeps what doubles would lose
 * (19435.50, 20 digits). Text inside strings is left alone; what is no JSON number stays as it is, for JSON.parse to
 * refuse. Some ten times faster than a reviver that looks at `context.source`.
 * @throws TooManyValues
 */
export function quoteNumbers(json: Uint8Array): Uint8Array {
  // a digit with a comma becomes four bytes
  const quoted = Buffer.allocUnsafeSlow(json.length * 2 + 2);
  const maxValues = Math.max(MANY_VALUES, json.length / MIN_BYTES_PER_VALUE);
  let length = 0;
  let values = 1;
  let at = 0;
  while (at < json.length) {
    let byte = json[at] as number;
    if (byte === QUOTE) {
      do {
        quoted[length++] = byte;
        at += 1;
        if (byte === BACKSLASH) quoted[length++] = json[at++] as number;
        byte = json[at] as number;
      } while (at < json.length && byte !== QUOTE);
      if (at < json.length) quoted[length++] = json[at++] as number;
    } else if (byte === MINUS || isDigit(byte)) {
      const end = endOfNumber(json, at);
      // 01, 1.e, 1-2, {1: 2}: leave the whole to JSON.parse, which refuses it
      if (end === -1 || !endsValue(json, end)) return json;
      quoted[length++] = QUOTE;
      while (at < end) quoted[length++] = json[at++] as number;
      quoted[length++] = QUOTE;
    } else {
      // a comma, [ or {: another value
      if ((byte === COMMA || (byte | LOWER) === OPENING_BRACE) && ++values > maxValues) throw new TooManyValues();
      quoted[length++] = byte;
      at += 1;
    }
  }
  return quoted.subarray(0, length);
}

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= ZERO && byte <= NINE;

/** The end of the JSON number that begins here (RFC 8259 §6); -1 when none does. */
function endOfNumber(json: Uint8Array, from: number): number {
  let at = json[from] === MINUS ? from + 1 : from;
  at = json[at] === ZERO ? at + 1 : endOfDigits(json, at);
  if (at !== -1 && json[at] === POINT) at = endOfDigits(json, at + 1);
  if (at === -1 || ((json[at] ?? 0) | LOWER) !== LOWER_E) return at;
  at += 1;
  return endOfDigits(json, json[at] === PLUS || json[at] === MINUS ? at + 1 : at);
}

/** The end of the digits that begin here; -1 when there is none. */
function endOfDigits(json: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(json[at])) at += 1;
  return at === from ? -1 : at;
}

/** True if the end of the text, a comma, a bracket or a brace comes next, after white space. */
function endsValue(json: Uint8Array, from: number): boolean {
  let at = from;
  while (isSpace(json[at])) at += 1;
  const byte = json[at];
  return byte === undefined || byte === COMMA || byte === CLOSING_BRACKET || byte === CLOSING_BRACE;
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
