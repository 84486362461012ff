const MAX_NAMES = 50;
const NAME = /^[A-Za-z0-9._-]{1,40}$/;
const MAX_DIGITS = 4;

/**
 * The label for what callers send as X-Client-Name (docs/health-and-metrics.md#labels): the first 50 that look like names of programs;
 * `other` for the rest, which may hold anything, and `none` without one.
 */
export class ClientNames {
  readonly #known = new Set<string>();

  toLabel(header: string | undefined): string {
    if (header === undefined || header === '') return 'none';
    if (this.#known.has(header)) return header;
    if (this.#known.size >= MAX_NAMES || !NAME.test(header) || countDigits(header) > MAX_DIGITS) return 'other';
    this.#known.add(header);
    return header;
  }
}

/** Counts digits: a name with many of them may contain an identifier or an amount. */
const countDigits = (text: string): number => text.replace(/\D/g, '').length;
