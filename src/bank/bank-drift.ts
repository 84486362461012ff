import { Inject, Injectable } from '@nestjs/common';
import { Log } from '../telemetry/log.js';
import { keyOf, MAX_DRIFT, type Drift } from '../list/find-drift.js';

/** Drift found since the start (docs/bank.md#drift): each is logged once, at most 50. It changes no status. */
@Injectable()
export class BankDrift {
  readonly #found = new Map<string, Drift>();
  /** What was logged, found again or not: a field that comes and goes is not logged each time. */
  readonly #logged = new Set<string>();
  /** Paths of the known fields that any list had. */
  readonly #known = new Set<string>();

  constructor(@Inject(Log) private readonly log: Pick<Log, 'logger'>) {}

  /** Records unknown fields and words, each path and value once. */
  note(found: readonly Drift[]): void {
    for (const drift of found) this.#add(drift, 'the bank sends an unknown field or value');
  }

  /** Records the known fields of a whole list with accounts. A field that an earlier list had, and this one lacks, is drift. */
  noteKnown(paths: ReadonlySet<string>): void {
    const objects = new Set([...paths].map(toObject));
    for (const path of this.#known) {
      const missing: Drift = { path, missing: true };
      if (paths.has(path)) this.#found.delete(keyOf(missing));
      // a list without balances says nothing about their fields
      else if (objects.has(toObject(path))) this.#add(missing, 'no account of the bank has this field any longer');
    }
    for (const path of paths) this.#known.add(path);
  }

  /** Oldest first. */
  get found(): readonly Drift[] {
    return [...this.#found.values()];
  }

  #add(drift: Drift, message: string): void {
    const key = keyOf(drift);
    if (this.#found.size >= MAX_DRIFT || this.#found.has(key)) return;
    this.#found.set(key, drift);
    if (this.#logged.has(key)) return;
    this.#logged.add(key);
    this.log.logger.warn({ event: 'bank.drift', ...drift }, message);
  }
}

/** The object that a field belongs to: `balances[].currency` to `balances[]`, `status` to the account. */
const toObject = (path: string): string => path.slice(0, path.lastIndexOf('.') + 1);
