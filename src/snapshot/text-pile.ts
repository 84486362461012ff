/** Many texts as UTF-8 in one piece: text `i` is between `offsets[i]` and `offsets[i + 1]`. */
export interface Texts {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

/** Reserved address space, larger than any list needs; only written pages use memory. */
const MAX_BYTES = 2 ** 30;
const GROW_BYTES = 4 * 1024 * 1024;
/** UTF-8 takes at most this for each unit of a JavaScript text. */
const MAX_BYTES_PER_UNIT = 3;

/** Gathers texts as UTF-8 in one growing piece of memory outside the heap, which the collector need not look through. */
export class TextPile {
  readonly #memory = new ArrayBuffer(0, { maxByteLength: MAX_BYTES });
  #bytes = Buffer.from(this.#memory);
  readonly #ends: number[] = [];

  get byteLength(): number {
    return this.#ends.at(-1) ?? 0;
  }

  push(text: string): void {
    const start = this.byteLength;
    const most = start + text.length * MAX_BYTES_PER_UNIT;
    if (most > this.#memory.byteLength) {
      this.#memory.resize(most + GROW_BYTES);
      this.#bytes = Buffer.from(this.#memory);
    }
    this.#ends.push(start + this.#bytes.write(text, start));
  }

  /** Offsets of some of the texts, in the order given, if they were in one piece. */
  toOffsets(order: Uint32Array): Uint32Array {
    const offsets = new Uint32Array(order.length + 1);
    order.forEach((index, position) => {
      const length = (this.#ends[index] as number) - (this.#ends[index - 1] ?? 0);
      offsets[position + 1] = (offsets[position] as number) + length;
    });
    return offsets;
  }

  /** The bytes of some of the texts, in the order given. */
  *inOrder(order: Uint32Array): Generator<Buffer> {
    for (const index of order) yield this.#bytes.subarray(this.#ends[index - 1] ?? 0, this.#ends[index]);
  }
}
