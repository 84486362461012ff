import { Inject, Injectable } from '@nestjs/common';
import type { AccessTokenProvider } from '../../auth/access-token-provider.js';
import { IdentityHolder } from '../../auth/identity-holder.js';
import { BankDrift } from '../../bank/bank-drift.js';
import { ListenerCertificate } from '../../http/listener-certificate.js';
import { UnderWay } from '../../http/under-way.js';
import { SnapshotSource, type SharingStatus } from '../../snapshot/snapshot-source.js';
import { SnapshotCache } from '../../cache/snapshot-cache.js';
import { Clock } from '../../time/clock.js';
import { BankCondition } from './bank-condition.js';

/** The state of every component at one moment. */
export interface GatewayFacts {
  /** The moment, ms since 1970. */
  readonly at: number;
  /** True after a signal to stop. */
  readonly stopping: boolean;
  /** The client certificate. */
  readonly certificate: ReturnType<IdentityHolder['status']>;
  readonly token: ReturnType<AccessTokenProvider['status']>;
  /** The bank, over token and list. */
  readonly bank: ReturnType<BankCondition['status']> & {
    /** The bank's clock minus ours at its last answer, ms; null before one. */
    readonly clockSkewMs: number | null;
    /** Earliest expiry of its server certificates, ms since 1970; null before the first answer. */
    readonly serverCertificateEnds: number | null;
    readonly drift: BankDrift['found'];
    readonly driftCount: number;
  };
  /** The cached snapshot, and the refreshes of the list. */
  readonly snapshot: ReturnType<SnapshotCache['status']>;
  /** The certificate of the internal API; null if it speaks plain HTTP. */
  readonly listener: ReturnType<ListenerCertificate['status']> | null;
  readonly sharing: SharingStatus;
}

/** Reads the state of every component. Health, metrics and the last hour have no other source. */
@Injectable()
export class GatewayStatus {
  constructor(
    private readonly clock: Clock,
    private readonly underWay: UnderWay,
    @Inject(ListenerCertificate) private readonly listener: ListenerCertificate | null,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly drift: BankDrift,
    private readonly snapshots: SnapshotCache,
    private readonly source: SnapshotSource,
  ) {}

  /** Asks each component once, and none of them waits. */
  read(): GatewayFacts {
    const { tokens, egress } = this.identities.current;
    return {
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
      listener: this.listener?.status() ?? null,
      sharing: this.source.status(),
    };
  }
}

/** The current failures of token and list as one series; all null, and the circuit closed, when there are none. */
export function toFailureSeries({ token, snapshot }: Pick<GatewayFacts, 'token' | 'snapshot'>) {
  const troubles = [token.trouble, snapshot.trouble].filter((trouble) => trouble !== null);
  const circuits = troubles.map(({ circuit }) => circuit);
  return {
    /** The state of the back-off: whether the bank is asked. */
    circuit: circuits.includes('open') ? ('open' as const) : (circuits[0] ?? ('closed' as const)),
    failingSince: troubles.map(({ since }) => since).toSorted()[0] ?? null,
    attempts: troubles.length > 0 ? Math.max(...troubles.map(({ attempts }) => attempts)) : null,
    nextAttemptAt:
      troubles
        .map(({ retryAt }) => retryAt)
        .toSorted()
        .at(-1) ?? null,
  };
}
