/** Many texts in one piece: text `i` lies from `offsets[i]` to `offsets[i + 1]`. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

/** The texts in one piece, in the order given. */
export function toTexts(texts: readonly string[]): Texts {
  const offsets = toOffsets(texts);
  const bytes = new Uint8Array(offsets[texts.length] as number);
  writeTexts(texts, offsets, bytes);
  return { bytes, offsets };
}

/** Where each of the texts begins in one piece, and where the last one ends. */
export function toOffsets(texts: readonly string[]): Uint32Array {
  const offsets = new Uint32Array(texts.length + 1);
  texts.forEach((text, index) => {
    offsets[index + 1] = (offsets[index] as number) + Buffer.byteLength(text);
  });
  return offsets;
}

/** Writes the texts as UTF-8, each to its offset. */
export function writeTexts(texts: readonly string[], offsets: Uint32Array, place: Uint8Array): void {
  const buffer = asBuffer(place);
  texts.forEach((text, index) => buffer.write(text, offsets[index] as number));
}

/** One of the texts, decoded. */
export function textAt({ bytes, offsets }: Texts, index: number): string {
  return asBuffer(bytes).toString('utf8', offsets[index], offsets[index + 1]);
}

/** All of the texts, decoded. */
export const toTextList = (texts: Texts): string[] =>
  Array.from({ length: texts.offsets.length - 1 }, (_, index) => textAt(texts, index));

/** The same bytes, with what a Buffer can do. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Where the wanted one stands among `count` sorted ones, else -1.
 * @param compare the wanted one with that at an index: less than 0 when it comes before
 */
export function findSorted(count: number, compare: (index: number) => number): number {
  let low = 0;
  let high = count - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const order = compare(middle);
    if (order === 0) return middle;
    if (order < 0) high = middle - 1;
    else low = middle + 1;
  }
  return -1;
}

/** A text whose order by code units is that of its UTF-8 bytes. */
export function toByteOrder(text: string): string {
  // eslint-disable-next-line no-control-regex
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text).toString('latin1');
}
