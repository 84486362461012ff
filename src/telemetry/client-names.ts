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
    if (this.#known.size >= MAX_NAMES || !NAME.test(header) || mayHoldNumber(header)) return 'other';
    this.#known.add(header);
    return header;
  }
}

/** True for a name with so many digits that it may be an IBAN or an amount. */
export const mayHoldNumber = (name: string): boolean => name.replace(/\D/g, '').length > MAX_DIGITS;
