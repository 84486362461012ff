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
  /** Offset of each text, and of the next one. */
  readonly #starts: number[] = [0];

  get byteLength(): number {
    return this.#starts.at(-1) ?? 0;
  }

  push(text: string): void {
    const start = this.byteLength;
    const most = start + text.length * MAX_BYTES_PER_UNIT;
    if (most > this.#memory.byteLength) {
      this.#memory.resize(most + GROW_BYTES);
      this.#bytes = Buffer.from(this.#memory);
    }
    this.#starts.push(start + this.#bytes.write(text, start));
  }

  /** Some of the texts as one section, in the order given, and their offsets in it. */
  inOrder(order: Uint32Array): { offsets: Uint32Array; byteLength: number; copyTo(target: Uint8Array): void } {
    const offsets = new Uint32Array(order.length + 1);
    order.forEach((index, position) => {
      const length = (this.#starts[index + 1] as number) - (this.#starts[index] as number);
      offsets[position + 1] = (offsets[position] as number) + length;
    });
    const copyTo = (target: Uint8Array) =>
      order.forEach((index, position) => {
        this.#bytes.copy(target, offsets[position], this.#starts[index], this.#starts[index + 1]);
      });
    return { offsets, byteLength: offsets.at(-1) ?? 0, copyTo };
  }
}
