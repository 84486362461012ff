/** More different texts are not shared: then they are not what many accounts have in common. */
const MAX_TEXTS = 50_000;

/** Texts that many accounts have in common, such as their owner's name, each kept once: a quarter of the memory of a long list. */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** The same text, in the copy that is kept. */
  share<T extends string | null>(text: T): T | string {
    if (text === null) return text;
    const kept = this.#texts.get(text);
    if (kept !== undefined) return kept;
    if (this.#texts.size < MAX_TEXTS) this.#texts.set(text, text);
    return text;
  }
}
