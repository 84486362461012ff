/** An amount in parts for reading. Nothing is rounded; the joined parts are the original text. */
interface AmountParts {
  /** Digits of the whole number, in groups of three. The first begins with the sign, if there is one. */
  readonly groups: readonly string[];
  /** The decimal point and the digits after it; empty without a point. */
  readonly fraction: string;
}

/**
 * Splits a decimal text into parts; any other text is one part. Digits stay characters: no number type could hold all
 * of them.
 */
export function splitAmount(text: string): AmountParts {
  const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? [];
  if (whole === undefined) return { groups: [text], fraction: '' };
  const [first, ...others] = groupsOf(whole, 3, whole.length % 3);
  return { groups: [`${sign}${first}`, ...others], fraction };
}

/** An IBAN in groups of four, as in print; null for a text without the form of an IBAN. */
export const splitIban = (text: string): string[] | null =>
  /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/.test(text) ? groupsOf(text, 4, 0) : null;

function groupsOf(text: string, size: number, first: number): string[] {
  const groups = first > 0 ? [text.slice(0, first)] : [];
  for (let at = first; at < text.length; at += size) groups.push(text.slice(at, at + size));
  return groups;
}

/** Length of the longest fraction, for a column with aligned decimal points. */
export const widestFraction = (amounts: readonly (string | null)[]): number =>
  Math.max(0, ...amounts.map((amount) => splitAmount(amount ?? '').fraction.length));
