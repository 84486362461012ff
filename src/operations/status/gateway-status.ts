import { Inject, Injectable } from '@nestjs/common';
import { IdentityHolder } from '../../auth/identity-holder.js';
import { BankDrift } from '../../bank/bank-drift.js';
import { ListenerCertificate } from '../../http/listener-certificate.js';
import { UnderWay } from '../../http/under-way.js';
import { SnapshotSource } from '../../snapshot/snapshot-source.js';
import { SnapshotService } from '../../cache/snapshot-service.js';
import { Clock } from '../../time/clock.js';
import { BankCondition } from '../../bank/bank-condition.js';

export type GatewayFacts = ReturnType<GatewayStatus['read']>;

/** The state of every component. Health, metrics and the last hour get it only from here. */
@Injectable()
export class GatewayStatus {
  constructor(
    private readonly clock: Clock,
    private readonly underWay: UnderWay,
    @Inject(ListenerCertificate) private readonly listener: ListenerCertificate | null,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly drift: BankDrift,
    private readonly snapshots: SnapshotService,
    private readonly source: SnapshotSource,
  ) {}

  /** Reads each component once; none of them waits. */
  read() {
    const { tokens, egress } = this.identities.current;
    return {
      /** ms since 1970 */
      at: this.clock.now().wall,
      stopping: this.underWay.isStopping,
      certificate: this.identities.status(),
      token: tokens.status(),
      bank: {
        ...this.condition.status(),
        clockSkewMs: egress.clockSkewMs,
        serverCertificateEnds: egress.serverCertificateEnds,
        drift: this.drift.found,
        driftCount: this.drift.count,
      },
      snapshot: this.snapshots.status(),
      /** Null if the internal API speaks plain HTTP. */
      listener: this.listener?.status() ?? null,
      sharing: this.source.status(),
    };
  }
}

/** The current failures of token and list as one series; without failures, all null and the circuit closed. */
export function toFailureSeries({ token, snapshot }: Pick<GatewayFacts, 'token' | 'snapshot'>) {
  const troubles = [token.trouble, snapshot.trouble].filter((trouble) => trouble !== null);
  const circuits = troubles.map(({ circuit }) => circuit);
  const retries = troubles.map(({ retryAt }) => retryAt).toSorted();
  return {
    /** `open` during a back-off of the token or the list; `half-open` when the next call is a probe. */
    circuit: circuits.includes('open') ? ('open' as const) : (circuits[0] ?? ('closed' as const)),
    failingSince: troubles.map(({ since }) => since).toSorted()[0] ?? null,
    attempts: troubles.length > 0 ? Math.max(...troubles.map(({ attempts }) => attempts)) : null,
    nextAttemptAt: retries.at(-1) ?? null,
  };
}
