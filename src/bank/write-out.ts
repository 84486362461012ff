const MAX_DIGITS = 400;
const PLAIN = /^-?\d+(?:\.\d+)?$/;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The decimal without exponent: 1.5e3 → 1500, 25E-4 → 0.0025; null for a text that is no decimal, or has more than
 * 400 digits (docs/bank.md#amounts).
 */
export function writeOut(text: string): string | null {
  // nearly all are
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
