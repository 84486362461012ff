const DECIMAL = /^(-?)0*(\d*?)(?:\.(\d*?)0*)?$/;

/** Orders two decimals exactly, whatever their length: less than 0 when `a` is less; 1.10 and 1.1, -0 and 0 are equal. */
export function compareDecimals(a: string, b: string): number {
  // rounding to doubles never changes an order, it only makes neighbours equal
  const [x, y] = [Number(a), Number(b)];
  if (x < y) return -1;
  if (x > y) return 1;
  const left = read(a);
  const right = read(b);
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  const order =
    left.whole.length - right.whole.length ||
    compareTexts(left.whole, right.whole) ||
    compareTexts(left.fraction, right.fraction);
  return left.negative && order !== 0 ? -order : order;
}

function read(text: string) {
  const [, sign = '', whole = '', fraction = ''] = DECIMAL.exec(text) ?? [];
  return { negative: sign === '-' && whole + fraction !== '', whole, fraction };
}

/** By code units. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
