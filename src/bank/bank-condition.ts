import { Injectable } from '@nestjs/common';
import { NoToken } from '../auth/authorized-call.js';
import { IdentityHolder } from '../auth/identity-holder.js';
import { Settings } from '../config/settings.js';
import type { BankReference, GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { Activity, type BankCallEnded } from '../telemetry/activity.js';
import { Log } from '../telemetry/log.js';
import { Clock } from '../time/clock.js';

type Target = BankCallEnded['target'];

/** Fast refreshes in a row that end the verdict "slow". */
const FAST_ENOUGH = 2;

/**
 * The condition of the bank, from completed token requests and refreshes. A series of failures begins with the first
 * and ends once each kind of request that failed has succeeded again; both are logged once.
 */
@Injectable()
export class BankCondition {
  readonly #failing = new Set<Target>();
  readonly #lastSuccessAt: Record<Target, string | null> = { token: null, accounts: null };
  #lastError:
    | ({
        readonly code: ProblemCode;
        readonly at: string;
        readonly status: number | null;
        readonly target: Target;
      } & BankReference)
    | null = null;
  #slow: { readonly since: string; readonly copyAgeMs: number } | null = null;
  #fastInARow = 0;

  constructor(
    activity: Activity,
    identities: IdentityHolder,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly settings: Settings,
  ) {
    activity.on('tokenRequestEnded', ({ tokens, error }) => {
      // the next identity, or one that was replaced, does not show the condition of the bank
      if (tokens === identities.current.tokens) this.#note('token', error);
    });
    activity.on('refreshEnded', ({ waitedMs, error, replacedAgeMs }) => {
      if (error instanceof NoToken) return;
      this.#note('accounts', error);
      if (error === null) this.#noteDuration(waitedMs, replacedAgeMs);
    });
  }

  /** Times are ISO 8601. */
  status() {
    return {
      lastSuccessAt: { ...this.#lastSuccessAt },
      lastError: this.#lastError,
      /** Since refreshes exceed the soft timeout, with the maximum age of the copies that apps got. */
      slow: this.#slow,
    };
  }

  #note(target: Target, error: GatewayError | null): void {
    const at = new Date(this.clock.now().wall).toISOString();
    if (error === null) {
      this.#lastSuccessAt[target] = at;
      const isLast = this.#failing.delete(target) && this.#failing.size === 0;
      if (isLast) this.log.logger.info({ event: 'bank.recovered', target }, 'calls to the bank succeed again');
      return;
    }
    const { code, upstreamStatus: status = null, bankReference } = error;
    this.#lastError = { code, at, status, target, ...bankReference };
    const isFirst = this.#failing.size === 0;
    this.#failing.add(target);
    if (!isFirst) return;
    const fields = { event: 'bank.unavailable', ...error.fields, target };
    this.log.logger[error.needsSomeone ? 'error' : 'warn'](fields, 'calls to the bank fail');
  }

  /** @param replacedAgeMs age of the copy that apps got during the refresh; null for none */
  #noteDuration(waitedMs: number, replacedAgeMs: number | null): void {
    if (waitedMs < this.settings.SNAPSHOT_SOFT_TIMEOUT_MS) {
      this.#fastInARow += 1;
      if (this.#fastInARow >= FAST_ENOUGH) this.#slow = null;
      return;
    }
    if (replacedAgeMs === null) return;
    this.#fastInARow = 0;
    const since = this.#slow?.since ?? new Date(this.clock.now().wall - waitedMs).toISOString();
    this.#slow = { since, copyAgeMs: Math.max(replacedAgeMs, this.#slow?.copyAgeMs ?? 0) };
  }
}
