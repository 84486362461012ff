/** A response body with its ETag. */
interface CachedAnswer {
  readonly etag: string;
  /** JSON text. It is parsed for each caller, so that callers may modify the result. */
  readonly text: string;
}

const MAX_ANSWERS = 100;
/** Limit for all responses together. A page of 1000 accounts has about 800 000 characters. */
const MAX_CHARACTERS = 10_000_000;

/** The last responses by URL. Evicts the least recently used one first. */
export class AnswerCache {
  readonly #answers = new Map<string, CachedAnswer>();
  #characters = 0;

  get(url: string): CachedAnswer | undefined {
    const cached = this.#answers.get(url);
    if (cached) {
      // a Map keeps insertion order: this makes it the most recent entry
      this.#answers.delete(url);
      this.#answers.set(url, cached);
    }
    return cached;
  }

  set(url: string, answer: CachedAnswer): void {
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
