import type { Writable } from './layout.js';

/** Enough for most lists. */
const FIRST_CHUNK_BYTES = 1024 * 1024;
/**
 * Memory that has not been written costs nothing. Pieces of more than 32 MB are given back to the system when they are
 * freed, by glibc's malloc; of smaller ones it kept 160 MB after a reading of 100 000 accounts.
 */
const CHUNK_BYTES = 40 * 1024 * 1024;
/** UTF-8 takes at most this for each unit of a JavaScript text. */
const MAX_BYTES_PER_UNIT = 3;

/** Texts as UTF-8, one after the other as they come, in chunks of memory, so that none is copied to make room. */
export class TextPile {
  readonly #chunks: Buffer<ArrayBuffer>[] = [];
  #used = 0;
  /** For each text: its chunk, where it begins there, how long it is. */
  readonly #chunkOf: number[] = [];
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];

  push(text: string): void {
    const most = text.length * MAX_BYTES_PER_UNIT;
    let chunk = this.#chunks.at(-1);
    if (!chunk || this.#used + most > chunk.length) {
      chunk = Buffer.allocUnsafeSlow(Math.max(most, chunk ? CHUNK_BYTES : FIRST_CHUNK_BYTES));
      this.#chunks.push(chunk);
      this.#used = 0;
    }
    const length = chunk.write(text, this.#used);
    this.#chunkOf.push(this.#chunks.length - 1);
    this.#starts.push(this.#used);
    this.#lengths.push(length);
    this.#used += length;
  }

  /** Some of the texts, in the order given, as sections. The pile is gone when `bytes` has been written. */
  take(indexes: Uint32Array): { readonly bytes: Writable; readonly offsets: Uint32Array } {
    const offsets = new Uint32Array(indexes.length + 1);
    indexes.forEach((index, position) => {
      offsets[position + 1] = (offsets[position] as number) + (this.#lengths[index] as number);
    });
    return {
      offsets,
      bytes: {
        byteLength: offsets[indexes.length] as number,
        writeInto: (place) => {
          indexes.forEach((index, position) => {
            const start = this.#starts[index] as number;
            const chunk = this.#chunks[this.#chunkOf[index] as number] as Buffer;
            copy(chunk, start, this.#lengths[index] as number, place, offsets[position] as number);
          });
          // memory is given back now, not when the collector finds time
          for (const { buffer } of this.#chunks.splice(0)) buffer.transfer(0);
        },
      },
    };
  }
}

/** Below this a loop is faster than asking the runtime. */
const SHORT_BYTES = 256;

function copy(from: Buffer, start: number, length: number, to: Uint8Array, at: number): void {
  if (length > SHORT_BYTES) from.copy(to, at, start, start + length);
  else for (let index = 0; index < length; index++) to[at + index] = from[start + index] as number;
}

/** Many texts in one piece: text `i` lies from `offsets[i]` to `offsets[i + 1]`. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

/** The texts in one piece, in the order given. */
export function toTexts(texts: readonly string[]): Texts {
  const offsets = new Uint32Array(texts.length + 1);
  texts.forEach((text, index) => {
    offsets[index + 1] = (offsets[index] as number) + Buffer.byteLength(text);
  });
  return { bytes: Buffer.from(texts.join('')), offsets };
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
