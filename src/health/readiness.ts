import { Injectable } from '@nestjs/common';
import { IdentityHolder } from '../auth/identity-holder.js';
import { SnapshotKeeper } from '../snapshot/snapshot-keeper.js';
import { HttpEdge } from '../http/http-edge.js';

const PROBE_WAITS_MS = 500;

/** Whether a call for accounts would be answered now (contract §5). */
@Injectable()
export class Readiness {
  constructor(
    private readonly identities: IdentityHolder,
    private readonly keeper: SnapshotKeeper,
    private readonly edge: HttpEdge,
  ) {}

  /** Looks, and where there is nothing to answer with asks the bank in the background, waiting 500 ms at most for it. */
  async check(): Promise<boolean> {
    const asked = this.#askInBackground();
    if (asked && !this.ready) await withinMs(asked, PROBE_WAITS_MS);
    // nobody may be waiting for it; what goes wrong is logged where it does
    asked?.catch(() => undefined);
    return this.ready;
  }

  get ready(): boolean {
    if (this.edge.stopping) return false;
    const { servable, failing } = this.keeper.status();
    if (servable) return true;
    return !failing && this.identities.status().fault === null && this.identities.current.tokens.usable !== null;
  }

  /** A token when there is none usable; a reading when one has failed and its waiting is over. */
  #askInBackground(): Promise<unknown> | null {
    if (this.edge.stopping || this.identities.status().fault !== null) return null;
    const { tokens } = this.identities.current;
    return tokens.usable ? this.keeper.probe() : tokens.get();
  }
}

async function withinMs(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work.catch(() => undefined), timeout]);
  clearTimeout(timer);
}
