import { hostname } from 'node:os';
import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import { HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { toFreshMs } from '../../cache/freshness.js';
import { Settings } from '../../config/settings.js';
import { COMMIT, VERSION } from '../../config/build-output.js';
import { describeRoutes, goesDirect } from '../../egress/route.js';
import type { Trouble } from '../../time/back-off.js';
import { toFailureSeries, type GatewayFacts } from '../status/gateway-status.js';
import { judgeHealth, toSlow, type Part, type PartStatus } from '../status/judge-health.js';

const SEVERITY: readonly PartStatus[] = ['down', 'degraded', 'unknown', 'up'];

/** The body of /health (docs/troubleshooting.md#health). Building it calls nobody. */
@Injectable()
export class HealthReport {
  constructor(
    private readonly health: HealthCheckService,
    private readonly settings: Settings,
  ) {}

  async of(facts: GatewayFacts) {
    const { status, parts } = judgeHealth(facts);
    const data: Record<string, object> = this.#dataOf(facts);
    const worstFirst = Object.entries<Part>(parts)
      .toSorted(([, a], [, b]) => SEVERITY.indexOf(a.status) - SEVERITY.indexOf(b.status))
      .map(([name, part]) => [name, { ...part, ...data[name] }] as const);
    return {
      status,
      version: VERSION,
      commit: COMMIT,
      environment: this.settings.ENVIRONMENT ?? null,
      instance: hostname(),
      ...(await this.#check(worstFirst)),
    };
  }

  /** Terminus sorts the components into info and error; it has no status for an unchecked one. */
  async #check(worstFirst: readonly (readonly [name: string, part: Part])[]) {
    const indicators = worstFirst.map(([name, { status }]) => () => ({
      [name]: { status: status === 'unknown' ? ('up' as const) : status },
    }));
    const { info = {}, error = {} } = await this.health.check(indicators).catch((thrown: unknown) => {
      // terminus throws the result to report a component that is down
      if (thrown instanceof ServiceUnavailableException) return thrown.getResponse() as HealthCheckResult;
      throw thrown;
    });
    const pick = (group: object) => Object.fromEntries(worstFirst.filter(([name]) => name in group));
    return { info: pick(info), error: pick(error), details: Object.fromEntries(worstFirst) };
  }

  #dataOf(facts: GatewayFacts) {
    const { token, bank, snapshot, listener } = facts;
    const { redis } = facts.sharing;
    const { subject, thumbprint, notAfter, daysLeft, next } = facts.certificate;
    const { asOf, expiresAt, ageMs, accounts, stale } = snapshot;
    const slow = toSlow(facts);
    return {
      certificate: { subject, thumbprint, notAfter, daysLeft, next },
      egress: {
        route: describeRoutes(this.settings),
        proxy: toProxyHost(this.settings),
        publicAddress: this.settings.EGRESS_PUBLIC_ADDRESS ?? null,
      },
      token: {
        host: new URL(this.settings.BANK_AUTH_URL).host,
        state: token.state,
        expiresInSeconds: token.expiresInSeconds,
        willFail: toForecast(facts, this.settings),
        lastSuccessAt: bank.lastSuccessAt.token,
        failingSince: token.trouble?.since ?? null,
        lastError: toLastError(token.trouble),
      },
      bank: {
        mode: this.settings.mode,
        host: new URL(this.settings.BANK_BASE_URL).host,
        support: this.settings.BANK_SUPPORT ?? null,
        statusPage: this.settings.BANK_STATUS_PAGE ?? null,
        lastSuccessAt: bank.lastSuccessAt.accounts,
        lastError: bank.lastError,
        ...toFailureSeries(facts),
        listFailingSince: snapshot.trouble?.since ?? null,
        slow: slow && { since: slow.since, copySeconds: slow.copyAgeMs && Math.ceil(slow.copyAgeMs / 1000) },
        drift: bank.drift,
        moreDrift: bank.driftCount - bank.drift.length,
      },
      snapshot: {
        asOf,
        expiresAt,
        ageSeconds: ageMs === null ? null : Math.floor(ageMs / 1000),
        accounts,
        stale,
      },
      ...(listener && {
        listener: { subject: listener.subject, notAfter: listener.notAfter, daysLeft: listener.daysLeft },
      }),
      ...(redis && {
        sharing: { state: redis.state, lastStoredAt: redis.lastStoredAt, lastTakenAt: redis.lastTakenAt },
      }),
    };
  }
}

const toLastError = (trouble: Trouble | null) =>
  trouble && {
    code: trouble.error.code,
    at: trouble.lastAt,
    status: trouble.error.upstreamStatus ?? null,
    ...trouble.error.bankReference,
  };

/** The proxy on the route to either of the bank's hosts, `host:port`; null without one. */
function toProxyHost(settings: Settings): string | null {
  const { EGRESS_PROXY_URL: proxy, BANK_BASE_URL, BANK_AUTH_URL } = settings;
  const isUsed = [BANK_BASE_URL, BANK_AUTH_URL].some((url) => !goesDirect(settings, url));
  return isUsed ? (proxy?.host ?? null) : null;
}

/**
 * Until when apps get current data, and then a copy, if only the token renewal fails, until the operator acts. Null without
 * such a failure or a snapshot, while other instances refresh, and afterwards.
 */
function toForecast({ at, token, snapshot, sharing }: GatewayFacts, settings: Settings) {
  if (token.trouble?.error.owner !== 'operator' || snapshot.ageMs === null || sharing.redis?.state === 'fleet')
    return null;
  const freshMs = toFreshMs(settings);
  const currentUntil = Math.max(token.usableUntil ?? 0, at - snapshot.ageMs + freshMs);
  if (currentUntil <= at) return null;
  const copyUntil = currentUntil - freshMs + settings.SNAPSHOT_MAX_AGE_MS;
  return { currentUntil: new Date(currentUntil).toISOString(), copyUntil: new Date(copyUntil).toISOString() };
}
