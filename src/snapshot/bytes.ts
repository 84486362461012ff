import type { Writable } from './layout.js';

const FIRST_BYTES = 65_536;
/** UTF-8 takes at most this for each unit of a JavaScript text. */
const MAX_BYTES_PER_UNIT = 3;

/** Texts as UTF-8, one after the other as they come, in a buffer that grows. */
export class TextPile {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  readonly #ends = [0];

  push(text: string): void {
    const start = this.#ends.at(-1) as number;
    const most = start + text.length * MAX_BYTES_PER_UNIT;
    if (most > this.#bytes.length) this.#grow(most, start);
    this.#ends.push(start + this.#bytes.write(text, start));
  }

  /** Some of the texts, in the order given, as sections. The pile is gone when `bytes` has been written. */
  take(indexes: Uint32Array): { readonly bytes: Writable; readonly offsets: Uint32Array } {
    const offsets = new Uint32Array(indexes.length + 1);
    indexes.forEach((index, position) => {
      const length = (this.#ends[index + 1] as number) - (this.#ends[index] as number);
      offsets[position + 1] = (offsets[position] as number) + length;
    });
    return {
      offsets,
      bytes: {
        byteLength: offsets[indexes.length] as number,
        writeInto: (place) => {
          indexes.forEach((index, position) => {
            this.#bytes.copy(place, offsets[position], this.#ends[index], this.#ends[index + 1]);
          });
          release(this.#bytes);
        },
      },
    };
  }

  #grow(least: number, used: number): void {
    const old = this.#bytes;
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(least, old.length * 2));
    old.copy(this.#bytes, 0, 0, used);
    release(old);
  }
}

/** Gives memory back now, not when the collector finds time. */
function release(bytes: Buffer<ArrayBuffer>): void {
  bytes.buffer.transfer(0);
}

/** Many texts in one piece: text `i` lies from `offsets[i]` to `offsets[i + 1]`. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

export function toTexts(texts: readonly string[]): Texts {
  const offsets = new Uint32Array(texts.length + 1);
  texts.forEach((text, index) => {
    offsets[index + 1] = (offsets[index] as number) + Buffer.byteLength(text);
  });
  return { bytes: Buffer.from(texts.join('')), offsets };
}

export function textAt({ bytes, offsets }: Texts, index: number): string {
  return asBuffer(bytes).toString('utf8', offsets[index], offsets[index + 1]);
}

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
