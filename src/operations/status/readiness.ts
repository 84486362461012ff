import { Injectable } from '@nestjs/common';
import { IdentityHolder } from '../../auth/identity-holder.js';
import { SnapshotService } from '../../cache/snapshot-service.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { within } from '../../time/deadline.js';
import { GatewayStatus, type GatewayFacts } from './gateway-status.js';

const PROBE_WAITS_MS = 500;

/** The facts that decide whether this instance is ready. */
@Injectable()
export class Readiness {
  constructor(
    private readonly status: GatewayStatus,
    private readonly identities: IdentityHolder,
    private readonly snapshots: SnapshotService,
  ) {}

  /** The current facts. Calls the bank if need be, and waits at most 500 ms if readiness depends on the outcome. */
  async facts(): Promise<GatewayFacts> {
    const facts = this.status.read();
    // failures are logged where they happen
    const asked = this.#askInBackground(facts)?.catch(() => undefined);
    if (!asked || !dependsOnBank(facts)) return facts;
    await within(asked, PROBE_WAITS_MS);
    return this.status.read();
  }

  /** Starts a refresh if none has succeeded or the last failed; else requests a token if none is usable. Nothing in a back-off. */
  #askInBackground({ stopping, certificate, token, snapshot }: GatewayFacts): Promise<unknown> | null {
    if (stopping || certificate.unusable !== null) return null;
    const refresh = this.snapshots.refreshForHealth();
    if (refresh || token.state === 'usable' || snapshot.trouble?.circuit === 'open') return refresh;
    return this.identities.current.tokens.get();
  }
}

/** True before the first token, and, without a servable snapshot, if not ready or an expired token may hide a failure. */
const dependsOnBank = (facts: GatewayFacts): boolean =>
  facts.bank.lastSuccessAt.token === null ||
  (!facts.snapshot.servable && (facts.token.state !== 'usable' || !isReady(facts)));

export const isReady = (facts: GatewayFacts): boolean =>
  !facts.stopping && canAnswer(facts) && !isRejectedSinceStart(facts);

/**
 * True if this instance has never had a token, for a reason that the operator must fix. A rollout with a wrong secret must
 * stop, even if the instance could serve a copy.
 */
function isRejectedSinceStart({ bank, certificate, token }: GatewayFacts): boolean {
  const isRejected = certificate.unusable !== null || token.trouble?.error.owner === 'operator';
  return bank.lastSuccessAt.token === null && isRejected;
}

/**
 * True if a call for accounts would be answered now: a snapshot can be served; or accounts have been read, and nothing is
 * failing. A token that expired while nobody called is no failure, nor is the list's while another instance refreshes.
 */
export function canAnswer(facts: GatewayFacts): boolean {
  const { certificate, snapshot } = facts;
  if (snapshot.servable) return true;
  const accountsRead = snapshot.asOf !== null && !snapshot.restored;
  const listFails = snapshot.trouble !== null && !snapshot.isOfOtherInstance;
  return accountsRead && certificate.unusable === null && tokenError(facts) === null && !listFails;
}

/** Why there is no usable token; null if there is one, or none was requested in vain. */
export function tokenError({ token: { state, trouble } }: Pick<GatewayFacts, 'token'>): GatewayError | null {
  return state === 'usable' || !trouble ? null : trouble.error;
}
