// Node 24 supports it, but TypeScript's library does not declare it yet.
const { rawJSON } = JSON as JSON & { rawJSON(text: string): object };

/** A number that is serialized to JSON with exactly these digits: 19435.50 keeps its zero, 20 digits stay 20. */
export class Digits {
  constructor(readonly text: string) {}

  toJSON(): object {
    return rawJSON(this.text);
  }
}

/** Parses JSON, keeping numbers as they are written. @throws SyntaxError */
export const parseDigits = (json: string): unknown =>
  JSON.parse(json, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new Digits(context?.source ?? String(value)) : value,
  );

/** Writes a whole number of minor units with `decimals` decimals: (-1, 2) is "-0.01". */
export function toDecimalText(minor: bigint, decimals: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return minor < 0n ? `-${text}` : text;
}
