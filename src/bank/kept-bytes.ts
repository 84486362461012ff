/** More is not kept: the page after this one is rarely as large. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Memory for one page after the other: what is new for each costs more than what is done in it. */
export class KeptBytes {
  #kept: Buffer | null = null;

  /** Room for so many bytes, which is theirs until the next call; what stands in it is of no use. */
  take(bytes: number): Buffer {
    if (bytes > MOST_BYTES) return Buffer.allocUnsafeSlow(bytes);
    // of memory that is not touched the system has none to give
    return (this.#kept ??= Buffer.allocUnsafeSlow(MOST_BYTES)).subarray(0, bytes);
  }

  /** The pieces one after the other; good until the next call. */
  join(pieces: readonly Uint8Array[]): Buffer {
    const joined = this.take(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
      joined.set(piece, at);
      at += piece.length;
    }
    return joined;
  }
}
