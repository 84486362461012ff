import { Injectable } from '@nestjs/common';
import { Log } from '../telemetry/log.js';
import { keyOf, type Drift, type FoundFields } from '../list/list-drift.js';

export const MAX_SHOWN = 50;
const MAX_LOGGED = 1000;

/** Drift in the last complete list (docs/bank.md#drift). Logs its first 50 entries, unless they are already logged. */
@Injectable()
export class BankDrift {
  #found: readonly Drift[] = [];
  /** A field that comes and goes is not logged each time. */
  readonly #logged = new Set<string>();
  /** Paths of the known fields that any list has contained. */
  readonly #known = new Set<string>();

  constructor(private readonly log: Log) {}

  /** A known field that an earlier list had and this one lacks is drift too. */
  noteList({ drift, known: paths }: FoundFields): void {
    const known = new Set(paths);
    const objects = new Set(paths.map(toObject));
    const missing: Drift[] = [];
    for (const path of this.#known) {
      // without balances, a list does not show which fields balances have
      if (!known.has(path) && objects.has(toObject(path))) missing.push({ path, missing: true });
    }
    for (const path of known) this.#known.add(path);
    this.#found = [...drift, ...missing];
    for (const each of this.found) this.#logOnce(each);
  }

  /** At most 50 entries. */
  get found(): readonly Drift[] {
    return this.#found.slice(0, MAX_SHOWN);
  }

  get count(): number {
    return this.#found.length;
  }

  #logOnce(drift: Drift): void {
    const key = keyOf(drift);
    if (this.#logged.has(key)) return;
    if (this.#logged.size >= MAX_LOGGED) this.#logged.clear();
    this.#logged.add(key);
    const message = drift.missing
      ? 'no account of the bank has this field any longer'
      : 'the bank sends an unknown field or value';
    this.log.logger.warn({ event: 'bank.drift', ...drift }, message);
  }
}

/** The object that a field belongs to: `balances[].currency` to `balances[]`, `status` to the account. */
const toObject = (path: string): string => path.slice(0, path.lastIndexOf('.') + 1);
