import { Injectable } from '@nestjs/common';
import { IdentityHolder } from '../../auth/identity-holder.js';
import { SnapshotCache } from '../../snapshot/snapshot-cache.js';
import { within } from '../../time/deadline.js';
import { Shutdown } from '../../http/shutdown.js';

const PROBE_WAITS_MS = 500;

/**
 * True while a call for accounts would be answered (docs/health-and-metrics.md#health): the cached snapshot may be served, or
 * the last call to the bank succeeded and accounts have been read at least once.
 */
@Injectable()
export class Readiness {
  constructor(
    private readonly identities: IdentityHolder,
    private readonly snapshots: SnapshotCache,
    private readonly shutdown: Shutdown,
  ) {}

  /** Checks now. Without a snapshot to serve, it asks the bank in the background and waits at most 500 ms. */
  async check(): Promise<boolean> {
    // failures are logged where they happen
    const asked = this.#askInBackground()?.catch(() => undefined);
    if (asked && !this.ready) await within(asked, PROBE_WAITS_MS);
    return this.ready;
  }

  get ready(): boolean {
    // even with a cached snapshot
    if (this.shutdown.stopping) return false;
    const { servable, error, asOf } = this.snapshots.status();
    if (servable) return true;
    const { unusable } = this.identities.status();
    return asOf !== null && error === null && unusable === null && this.identities.current.tokens.usable !== null;
  }

  /**
   * Starts a refresh if none has succeeded yet, or after the back-off of a failed one; else requests a token if none is
   * usable.
   */
  #askInBackground(): Promise<unknown> | null {
    if (this.shutdown.stopping || this.identities.status().unusable !== null) return null;
    const { tokens } = this.identities.current;
    return this.snapshots.probe() ?? (tokens.usable ? null : tokens.get());
  }
}
