import { hostname } from 'node:os';
import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { BankCondition } from '../../auth/bank-condition.js';
import { IdentityHolder } from '../../auth/identity-holder.js';
import { BankDrift } from '../../bank/bank-drift.js';
import { Settings } from '../../config/settings.js';
import { COMMIT, VERSION } from '../../config/version.js';
import { describeRoutes } from '../../egress/route.js';
import { HttpEdge } from '../../http/http-edge.js';
import { Sharing } from '../../sharing/sharing.js';
import { SnapshotCache } from '../../snapshot/snapshot-cache.js';
import type { BackOff } from '../../time/back-off.js';
import { judgeListener, judgePath, judgeSharing, judgeStopping, type Part, type PartStatus } from './judge-parts.js';
import { Readiness } from './readiness.js';

const SEVERITY: readonly PartStatus[] = ['down', 'degraded', 'unknown', 'up'];

/** The body of /health (docs/health-and-metrics.md#health). It asks nobody anything. */
@Injectable()
export class HealthReport {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: Readiness,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly snapshots: SnapshotCache,
    private readonly settings: Settings,
    private readonly edge: HttpEdge,
    private readonly drift: BankDrift,
    private readonly shared: Sharing,
  ) {}

  async read() {
    const { ready } = this.readiness;
    const parts = {
      ...(this.edge.stopping && { instance: judgeStopping() }),
      ...this.#path(ready),
      ...this.#listener(),
      ...this.#sharing(),
    };
    const healthy = Object.values(parts).every(({ status }) => status === 'up' || status === 'unknown');
    const status = ready ? (healthy ? ('ok' as const) : ('degraded' as const)) : ('error' as const);
    return {
      status,
      version: VERSION,
      commit: COMMIT,
      environment: this.settings.ENVIRONMENT ?? null,
      instance: hostname(),
      ...(await this.#check(parts)),
    };
  }

  /** The state of the back-off: whether the bank is asked. */
  get circuit(): 'closed' | 'open' | 'half-open' {
    const circuits = [this.identities.current.tokens.status().circuit, this.snapshots.status().circuit];
    return circuits.find((each) => each === 'open') ?? circuits.find((each) => each === 'half-open') ?? 'closed';
  }

  /** Terminus sorts the components into info and error; it has no status for one that was not tried. */
  async #check(parts: Record<string, Part>) {
    const worstFirst = Object.entries(parts).toSorted(
      ([, a], [, b]) => SEVERITY.indexOf(a.status) - SEVERITY.indexOf(b.status),
    );
    const indicators = worstFirst.map(([name, { status }]) => () => ({
      [name]: { status: status === 'unknown' ? ('up' as const) : status },
    }));
    const { info = {}, error = {} } = await this.health.check(indicators).catch((thrown: unknown) => {
      // terminus reports a component that is down by throwing the result
      if (thrown instanceof ServiceUnavailableException) return thrown.getResponse() as HealthCheckResult;
      throw thrown;
    });
    const pick = (group: object) => Object.fromEntries(worstFirst.filter(([name]) => name in group));
    return { info: pick(info), error: pick(error), details: Object.fromEntries(worstFirst) };
  }

  #path(ready: boolean) {
    const { unusable, ...certificate } = this.identities.status();
    const token = this.identities.current.tokens.status();
    const { lastSuccessAt, lastError } = this.condition.status();
    const snapshot = this.snapshots.status();
    const path = judgePath({
      ready,
      everAnswered: lastSuccessAt !== null,
      certificate: { ...certificate, unusable },
      token,
      snapshot,
    });
    const { asOf, expiresAt, ageMs, accounts, stale } = snapshot;
    return {
      certificate: { ...path.certificate, ...certificate },
      egress: {
        ...path.egress,
        route: describeRoutes(this.settings),
        publicAddress: this.settings.EGRESS_PUBLIC_ADDRESS ?? null,
      },
      token: {
        ...path.token,
        state: token.state,
        expiresInSeconds: token.expiresInSeconds,
        lastError: token.failure.lastError,
      },
      bank: {
        ...path.bank,
        mode: this.settings.mode,
        host: new URL(this.settings.BANK_BASE_URL).host,
        support: this.settings.BANK_SUPPORT ?? null,
        lastSuccessAt,
        lastError,
        circuit: this.circuit,
        ...joinFailures([token.failure, snapshot.failure]),
        drift: this.drift.found,
      },
      snapshot: {
        ...path.snapshot,
        asOf,
        expiresAt,
        ageSeconds: ageMs === null ? null : Math.floor(ageMs / 1000),
        accounts,
        stale,
      },
    };
  }

  /** Absent if the API speaks plain HTTP. */
  #listener() {
    const listener = this.edge.certificate?.status();
    if (!listener) return null;
    const { subject, notAfter, daysLeft } = listener;
    return { listener: { ...judgeListener(listener), subject, notAfter, daysLeft } };
  }

  /** Absent without REDIS_URL. */
  #sharing() {
    const status = this.shared.status().redis;
    if (!status) return null;
    const { reason, ...data } = status;
    return { sharing: { ...judgeSharing(reason), ...data } };
  }
}

/** The current failures of list and token as one series; all null when there are none. */
function joinFailures(all: readonly ReturnType<BackOff['status']>[]) {
  const failing = all.filter(({ failingSince }) => failingSince !== null);
  return {
    failingSince: failing.map(({ failingSince }) => failingSince).toSorted()[0] ?? null,
    attempts: failing.length === 0 ? null : Math.max(...failing.map(({ attempts }) => attempts)),
    nextAttemptAt:
      failing
        .map(({ nextAttemptAt }) => nextAttemptAt)
        .toSorted()
        .at(-1) ?? null,
  };
}
