import type { Logger } from 'pino';
import { isProblemCode, type ProblemCode } from '../problems/problem-table.js';
import type { Activity } from '../telemetry/activity.js';
import { endCallSpan, startCallSpan } from '../telemetry/spans.js';
import type { WireRequest } from './wire-client.js';

/** Reason for a failed call: a problem code, a caller who left, or an expired token. */
type CallFailure = ProblemCode | 'given-up' | 'not-sent';

/** Reports one call to the bank, from when it has its slot: as a span, a log line and an event for metrics. */
export class CallReport {
  readonly #request: WireRequest;
  readonly #logger: Logger;
  readonly #activity: Activity;
  readonly #span;
  readonly #started = performance.now();

  constructor(request: WireRequest, { logger, activity }: { readonly logger: Logger; readonly activity: Activity }) {
    this.#request = request;
    this.#logger = logger;
    this.#activity = activity;
    this.#span = startCallSpan(request);
  }

  /** @param status null without a status line. Metrics do not count a call that was cancelled or not sent */
  end(status: number | null, failure: CallFailure | null): void {
    const { target, baseUrl, path, query, headers } = this.#request;
    const { host, hostname, port } = new URL(baseUrl);
    const ms = performance.now() - this.#started;
    // another status than 200 names the failure itself
    const unnamed = failure !== null && (status ?? 200) === 200;
    const outcome = { ...(status !== null && { status }), ...(unnamed && { failure }) };
    if (this.#span) endCallSpan(this.#span, outcome);
    const fields = { target, host, path, ...query, refreshId: headers['X-Request-Id'], ms: Math.round(ms), ...outcome };
    this.#logger.debug({ event: 'bank.call', ...fields }, 'call to the bank');
    if (failure !== null && !isProblemCode(failure)) return;
    const server = { serverAddress: hostname, serverPort: Number(port || 443) };
    this.#activity.emit('bankCallEnded', { target, ...server, status, ms, code: failure });
  }
}
