import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import {
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { BankCondition } from '../auth/bank-condition.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { BankDrift } from '../bank/bank-drift.js';
import { SnapshotCache } from '../snapshot/snapshot-cache.js';
import { describeRoutes } from '../egress/route.js';
import { HttpEdge } from '../http/http-edge.js';
import type { GatewayError } from '../problems/gateway-error.js';
import { isProblemCode, PROBLEMS } from '../problems/problem-table.js';
import { Settings } from '../config/settings.js';
import { SharingCondition } from '../sharing/sharing.js';
import { Readiness } from './readiness.js';

const DEGRADED_UNDER_DAYS = 30;

/** What the rooms say of themselves, put together (docs/operations.md#health). It asks nobody anything. */
@Injectable()
export class HealthReport {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicators: HealthIndicatorService,
    private readonly readiness: Readiness,
    private readonly identities: IdentityHolder,
    private readonly condition: BankCondition,
    private readonly snapshots: SnapshotCache,
    private readonly settings: Settings,
    private readonly edge: HttpEdge,
    private readonly drift: BankDrift,
    private readonly sharing: SharingCondition,
  ) {}

  /** The whole picture as it is now; in each group the worst first. */
  async read() {
    const { ready } = this.readiness;
    const { info = {}, error = {}, details } = await this.#check(ready);
    const allUp = Object.values(details).every((detail) => detail?.status === 'up');
    const status = !ready ? ('error' as const) : allUp ? ('ok' as const) : ('degraded' as const);
    return { ready, status, error: worstFirst(error), details: worstFirst(details), info: worstFirst(info) };
  }

  /** Whether the bank is asked, read off the waiting after failures of token and readings. */
  get circuit(): 'closed' | 'open' | 'half-open' {
    const circuits = [this.identities.current.tokens.status().circuit, this.snapshots.status().circuit];
    return circuits.find((each) => each === 'open') ?? circuits.find((each) => each === 'half-open') ?? 'closed';
  }

  /** Every part, in the order of the way to the bank: what fails first is the cause of what follows. */
  async #check(ready: boolean): Promise<HealthCheckResult> {
    try {
      return await this.health.check([
        ...(this.edge.stopping ? [() => this.#part('instance', 'down', STOPPING, {})] : []),
        () => this.#certificate(),
        () => this.#egress(ready),
        () => this.#token(),
        () => this.#bank(ready),
        () => this.#snapshot(ready),
        ...this.#listener(),
        ...this.#sharing(),
      ]);
    } catch (error) {
      // terminus reports a failed check by throwing it
      if (error instanceof ServiceUnavailableException) return error.getResponse() as HealthCheckResult;
      throw error;
    }
  }

  /** A part that is not well says what is wrong, who must act and what to do, before its data. */
  #part(name: string, status: Status, trouble: Trouble | null, data: Record<string, unknown>): HealthIndicatorResult {
    const check = this.indicators.check(name);
    if (status === 'up' || !trouble) return check.up(data);
    const { code, owner, detail } = trouble;
    const told = { code, owner, detail, remedy: trouble.remedy ?? PROBLEMS[code].remedy, ...data };
    return status === 'down' ? check.down(told) : check.degraded(told);
  }

  #certificate(): HealthIndicatorResult {
    const { fault, ...data } = this.identities.status();
    const { refused, daysLeft, notAfter } = data;
    if (fault !== null) return this.#part('certificate', 'down', unusable(fault), data);
    if (refused !== null) {
      const code = isProblemCode(refused.code) ? refused.code : 'internal-error';
      const detail = `A newer certificate, or other credentials, were not taken, and the old ones stay: ${refused.detail}`;
      return this.#part('certificate', 'degraded', { code, owner: PROBLEMS[code].owner, detail }, data);
    }
    const ends = `The client certificate ends on ${notAfter}, in ${daysLeft} days or less; nothing can be read from then on.`;
    return this.#part('certificate', daysLeft < DEGRADED_UNDER_DAYS ? 'degraded' : 'up', unusable(ends), data);
  }

  #egress(ready: boolean): HealthIndicatorResult {
    const failure = this.#failure;
    const blamed = failure?.code.startsWith('proxy-') === true;
    const status = blamed ? (ready ? 'degraded' : 'down') : 'up';
    return this.#part('egress', status, failure, { route: describeRoutes(this.settings) });
  }

  #token(): HealthIndicatorResult {
    const { state, expiresInSeconds, renewalFailed, lastError: code } = this.identities.current.tokens.status();
    const { token: failure } = this.condition.status().failures;
    const lastError = failure && { code: failure.error.code, at: failure.at };
    const status = !renewalFailed ? 'up' : state === 'usable' ? 'degraded' : 'down';
    // the failure of an identity that took over without proof says nothing of the bank
    const unproved = code && { code, owner: PROBLEMS[code].owner, detail: 'The last request for a token failed.' };
    return this.#part('token', status, failure?.error ?? unproved, { state, expiresInSeconds, lastError });
  }

  #bank(ready: boolean): HealthIndicatorResult {
    const { lastSuccessAt, lastError } = this.condition.status();
    const drift = this.drift.found;
    const data = { mode: this.settings.mode, lastSuccessAt, lastError, circuit: this.circuit, drift };
    return this.#part('bank', ready ? 'degraded' : 'down', this.#failure, data);
  }

  #snapshot(ready: boolean): HealthIndicatorResult {
    const { asOf, ageMs, accounts, stale, servable } = this.snapshots.status();
    const { fault } = this.identities.status();
    const data = { asOf, ageSeconds: ageMs === null ? null : Math.floor(ageMs / 1000), accounts, stale };
    const cause = (fault === null ? null : unusable(fault)) ?? this.#failure;
    if (stale) return this.#part('snapshot', 'degraded', cause ?? slow(SLOW), data);
    return this.#part('snapshot', ready || servable ? 'up' : 'down', cause ?? slow(NOTHING_YET), data);
  }

  /** Nothing where plain HTTP is spoken. */
  #listener(): (() => HealthIndicatorResult)[] {
    const { certificate } = this.edge;
    if (!certificate) return [];
    const { refused, ...data } = certificate.status();
    const { daysLeft, notAfter } = data;
    const detail =
      refused === null
        ? `The certificate of this API ends on ${notAfter}, in ${daysLeft} days or less; callers refuse it from then on.`
        : `A newer certificate of this API was not taken, and the old one stays: ${refused}`;
    const well = refused === null && daysLeft >= DEGRADED_UNDER_DAYS;
    return [() => this.#part('listener', well ? 'up' : 'degraded', { ...LISTENER, detail }, data)];
  }

  /** Nothing without REDIS_URL. */
  #sharing(): (() => HealthIndicatorResult)[] {
    const status = this.sharing.status();
    if (!status) return [];
    const { reason, ...data } = status;
    const detail = `Redis cannot be used (${reason}): this instance reads for itself, with a token of its own.`;
    return [() => this.#part('sharing', reason === null ? 'up' : 'degraded', { ...SHARING, detail }, data)];
  }

  /** Why the bank cannot be used now: without a token there is no reading, so what fails with it comes first. */
  get #failure(): GatewayError | null {
    const { token, refresh } = this.condition.status().failures;
    return (token ?? refresh)?.error ?? null;
  }
}

type Status = 'up' | 'degraded' | 'down';

/** What is wrong, in the terms of a problem document. */
type Trouble = Pick<GatewayError, 'code' | 'owner' | 'detail'> & { readonly remedy?: string };

const SHARING = {
  code: 'internal-error',
  owner: 'operator',
  remedy:
    'Look at the Redis of REDIS_URL: whether it runs, can be reached, has memory left and lets this user write. Nothing has to be done here afterwards.',
} as const;

const LISTENER = {
  code: 'certificate-unusable',
  owner: 'operator',
  remedy:
    'Put a valid TLS_CERT_FILE and the TLS_KEY_FILE that goes with it in place; they are taken up within seconds.',
} as const;
const STOPPING: Trouble = { code: 'stopping', owner: 'operator', detail: 'This instance is stopping.' };
const SLOW = 'Answers are older than they should be: the bank takes longer than SNAPSHOT_SOFT_TIMEOUT_MS.';
const NOTHING_YET = 'There are no accounts to serve yet; the bank is being asked.';

const unusable = (detail: string): Trouble => ({ code: 'certificate-unusable', owner: 'operator', detail });
const slow = (detail: string): Trouble => ({ code: 'bank-timeout', owner: 'bank', detail });

const SEVERITY: readonly Status[] = ['down', 'degraded', 'up'];

/** By severity, and each with its status first, which terminus puts last. */
function worstFirst(parts: Partial<HealthIndicatorResult>): Record<string, object> {
  const all = Object.entries(parts).flatMap(([name, part]) => (part ? [[name, part] as const] : []));
  const sorted = all.toSorted(([, a], [, b]) => SEVERITY.indexOf(a.status) - SEVERITY.indexOf(b.status));
  return Object.fromEntries(sorted.map(([name, { status, ...data }]) => [name, { status, ...data }]));
}
