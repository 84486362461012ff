/** Texts as numbers: 0 for null, else one more than the place of the text in `different`. */
export interface CodedTexts {
  readonly codes: Uint32Array;
  /** Each once, in the order in which they are first met. */
  readonly different: readonly string[];
}

/** Gathers texts as they come. Most are alike in many accounts: of each one copy is kept. */
export class CodedTextsBuilder {
  readonly #codeOf = new Map<string, number>();
  readonly #codes: number[] = [];
  /** In some columns most are like the one before; to compare with it costs less than to look it up. */
  #last: string | null = null;
  #lastCode = 0;

  push(text: string | null): void {
    if (text !== this.#last) {
      this.#last = text;
      this.#lastCode = text === null ? 0 : this.#toCode(text);
    }
    this.#codes.push(this.#lastCode);
  }

  #toCode(text: string): number {
    let code = this.#codeOf.get(text);
    if (code === undefined) this.#codeOf.set(text, (code = this.#codeOf.size + 1));
    return code;
  }

  /** Some of them, in the order given. */
  take(indexes: Uint32Array): CodedTexts {
    const texts = [...this.#codeOf.keys()];
    const newCodes = new Uint32Array(texts.length + 1);
    const different: string[] = [];
    const codes = indexes.map((index) => {
      const code = this.#codes[index] as number;
      if (code !== 0 && newCodes[code] === 0) newCodes[code] = different.push(texts[code - 1] as string);
      return newCodes[code] as number;
    });
    return { codes, different };
  }
}
