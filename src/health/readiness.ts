import { Injectable } from '@nestjs/common';
import { IdentityHolder } from '../auth/identity-holder.js';
import { SnapshotCache } from '../snapshot/snapshot-cache.js';
import { within } from '../time/deadline.js';
import { HttpEdge } from '../http/http-edge.js';

const PROBE_WAITS_MS = 500;

/**
 * Whether a call for accounts would be answered now (docs/health-and-metrics.md#health): what is held may be served, or the last thing
 * asked of the bank went well, and accounts have been read at least once.
 */
@Injectable()
export class Readiness {
  constructor(
    private readonly identities: IdentityHolder,
    private readonly snapshots: SnapshotCache,
    private readonly edge: HttpEdge,
  ) {}

  /** Looks, and where there is nothing to answer with asks the bank in the background, waiting 500 ms at most for it. */
  async check(): Promise<boolean> {
    // what goes wrong is logged where it does
    const asked = this.#askInBackground()?.catch(() => undefined);
    if (asked && !this.ready) await within(asked, PROBE_WAITS_MS);
    return this.ready;
  }

  get ready(): boolean {
    // whatever is held
    if (this.edge.stopping) return false;
    const { servable, failing, asOf } = this.snapshots.status();
    if (servable) return true;
    const { unusable } = this.identities.status();
    return asOf !== null && !failing && unusable === null && this.identities.current.tokens.usable !== null;
  }

  /** A reading when none was ever made, or one has failed and its waiting is over; else a token when none is usable. */
  #askInBackground(): Promise<unknown> | null {
    if (this.edge.stopping || this.identities.status().unusable !== null) return null;
    const { tokens } = this.identities.current;
    return this.snapshots.probe() ?? (tokens.usable ? null : tokens.get());
  }
}
