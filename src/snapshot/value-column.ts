import { findSorted, toByteOrder, toTexts, type Texts } from './bytes.js';
import type { CodedTexts } from './coded-texts.js';

/** One value of every account as a small number: 0 for null, else one more than its place among the sorted values. */
export interface ValueColumn {
  readonly codes: Uint32Array;
  /** All different values, sorted by their bytes. */
  readonly values: Texts;
}

/** The column of these texts, which are by position. @param fold gives one value for all texts that are to be alike */
export function toColumn({ codes, different }: CodedTexts, fold = (text: string): string => text): ValueColumn {
  const values = different.map(fold);
  const keys = values.map(toByteOrder);
  const valueOf = new Map(keys.map((key, place) => [key, values[place] as string]));
  const sorted = [...valueOf.keys()].sort();
  const codeOfKey = new Map(sorted.map((key, index) => [key, index + 1]));
  const newCodes = Uint32Array.from([0, ...keys.map((key) => codeOfKey.get(key) as number)]);
  return {
    codes: codes.map((code) => newCodes[code] as number),
    values: toTexts(sorted.map((key) => valueOf.get(key) as string)),
  };
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
