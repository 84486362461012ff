import { Inject, Injectable } from '@nestjs/common';
import { Log } from '../telemetry/log.js';
import { keyOf, MAX_DRIFT, type Drift } from './find-drift.js';

/** Drift found since the start (docs/bank.md#drift): each is logged once, at most 50. It changes no status. */
@Injectable()
export class BankDrift {
  readonly #found = new Map<string, Drift>();

  constructor(@Inject(Log) private readonly log: Pick<Log, 'logger'>) {}

  /** Records drift, once for each path and value. */
  note(found: readonly Drift[]): void {
    for (const drift of found) {
      if (this.#found.size >= MAX_DRIFT || this.#found.has(keyOf(drift))) continue;
      this.#found.set(keyOf(drift), drift);
      this.log.logger.warn(
        { event: 'bank.drift', ...drift },
        'the bank sends a field or value that the gateway does not know',
      );
    }
  }

  /** Oldest first. */
  get found(): readonly Drift[] {
    return [...this.#found.values()];
  }
}
