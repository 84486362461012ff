import { findSorted, toByteOrder, toTexts, type Texts } from './bytes.js';
import type { CodedTexts } from './coded-texts.js';

/** One value of every account as a small number: 0 for null, else one more than its place among the sorted values. */
export interface ValueColumn {
  readonly codes: Uint32Array;
  /** All different values, sorted by their bytes. */
  readonly values: Texts;
}

/** The column of these texts, which are by position. */
export function toColumn({ codes, different }: CodedTexts): ValueColumn {
  const keys = different.map(toByteOrder);
  const sorted = [...keys.keys()].sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1));
  const newCodes = new Uint32Array(different.length + 1);
  sorted.forEach((place, index) => {
    newCodes[place + 1] = index + 1;
  });
  return {
    codes: codes.map((code) => newCodes[code] as number),
    values: toTexts(sorted.map((place) => different[place] as string)),
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
