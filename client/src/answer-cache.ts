/** An answer as it came, and the tag that stands for its data. */
interface KeptAnswer {
  readonly etag: string;
  /** JSON. Parsed for each caller: what one changes in it, no other sees. */
  readonly text: string;
}

const MAX_ANSWERS = 100;
/** Of all answers together; about as many bytes. A page of 1000 accounts has some 700 000. */
const MAX_CHARACTERS = 10_000_000;

/** The last answers by their address, the longest unused going first. */
export class AnswerCache {
  readonly #answers = new Map<string, KeptAnswer>();
  #characters = 0;

  get(url: string): KeptAnswer | undefined {
    const kept = this.#answers.get(url);
    if (kept) {
      // the order of a Map is that of insertion: now the youngest
      this.#answers.delete(url);
      this.#answers.set(url, kept);
    }
    return kept;
  }

  set(url: string, answer: KeptAnswer): void {
    this.#delete(url);
    this.#answers.set(url, answer);
    this.#characters += answer.text.length;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS && this.#characters <= MAX_CHARACTERS) break;
      this.#delete(oldest);
    }
  }

  #delete(url: string): void {
    this.#characters -= this.#answers.get(url)?.text.length ?? 0;
    this.#answers.delete(url);
  }
}
