import { Injectable } from '@nestjs/common';
import { IdentityHolder } from '../../auth/identity-holder.js';
import { SnapshotCache } from '../../cache/snapshot-cache.js';
import { within } from '../../time/deadline.js';
import { GatewayStatus, type GatewayFacts } from './gateway-status.js';
import { isReady } from './judge-health.js';

const PROBE_WAITS_MS = 500;

/** The facts of which depends whether a call for accounts would be answered now. Asks the bank where only the bank knows. */
@Injectable()
export class Readiness {
  constructor(
    private readonly status: GatewayStatus,
    private readonly identities: IdentityHolder,
    private readonly snapshots: SnapshotCache,
  ) {}

  /** The facts now, without asking the bank. */
  known(): GatewayFacts {
    return this.status.read();
  }

  /** The facts now. Without a snapshot to serve, it asks the bank in the background and waits at most 500 ms for its answer. */
  async facts(): Promise<GatewayFacts> {
    const facts = this.status.read();
    // failures are logged where they happen
    const asked = this.#askInBackground(facts)?.catch(() => undefined);
    if (!asked || !dependsOnBank(facts)) return facts;
    await within(asked, PROBE_WAITS_MS);
    return this.status.read();
  }

  /**
   * Starts a refresh if none has succeeded yet, or after the back-off of a failed one; else requests a token if none is
   * usable.
   */
  #askInBackground({ stopping, certificate, token }: GatewayFacts): Promise<unknown> | null {
    if (stopping || certificate.unusable !== null) return null;
    return this.snapshots.probe() ?? (token.state === 'usable' ? null : this.identities.current.tokens.get());
  }
}

/**
 * True if there has never been a token; or without a servable snapshot, if the gateway is not ready or an expired token may hide a
 * failure.
 */
const dependsOnBank = (facts: GatewayFacts): boolean =>
  facts.bank.lastSuccessAt.token === null ||
  (!facts.snapshot.servable && (facts.token.state !== 'usable' || !isReady(facts)));
