import { findSorted, toByteOrder, toTexts, type Texts } from './bytes.js';

/** One value of every account as a small number: 0 for null, else one more than its place among the sorted values. */
export interface ValueColumn {
  readonly codes: Uint32Array;
  /** All different values, sorted by their bytes. */
  readonly values: Texts;
}

/** @param values by position */
export function toColumn(values: readonly (string | null)[]): ValueColumn {
  const different = [...new Set(values.filter((value) => value !== null))];
  const keys = new Map(different.map((value) => [value, toByteOrder(value)]));
  const keyOf = (value: string) => keys.get(value) as string;
  different.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const codeOf = new Map<string | null, number>(different.map((value, index) => [value, index + 1]));
  return { codes: Uint32Array.from(values, (value) => codeOf.get(value) ?? 0), values: toTexts(different) };
}

/** The code of a value; -1 when no account has it. */
export function codeOf({ values }: ValueColumn, value: string): number {
  const wanted = Buffer.from(value);
  const { bytes, offsets } = values;
  const index = findSorted(offsets.length - 1, (at) =>
    wanted.compare(bytes, offsets[at] as number, offsets[at + 1] as number),
  );
  return index === -1 ? -1 : index + 1;
}
