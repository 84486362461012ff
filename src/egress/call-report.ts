import type { Logger } from 'pino';
import { GatewayError } from '../problems/gateway-error.js';
import type { ProblemCode } from '../problems/problem-table.js';
import type { Activity } from '../telemetry/activity.js';
import { endCallSpan, startCallSpan } from '../telemetry/spans.js';
import type { WireRequest } from './wire-client.js';

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

  /** @param code of the problem that the answer stands for, or null */
  answered(status: number, code: ProblemCode | null): void {
    endCallSpan(this.#span, { status });
    this.#log({ status });
    this.#emit(status, code);
  }

  failed(error: unknown): void {
    const code = error instanceof GatewayError ? error.code : null;
    const failure = code ?? 'not-sent';
    endCallSpan(this.#span, { failure });
    this.#log({ failure });
    if (code) this.#emit(null, code);
  }

  /** Nobody waits for it any longer: it is not counted. */
  givenUp(): void {
    endCallSpan(this.#span, { failure: 'given-up' });
    this.#log({ failure: 'given-up' });
  }

  get #ms(): number {
    return performance.now() - this.#started;
  }

  #emit(status: number | null, code: ProblemCode | null): void {
    const { target, baseUrl } = this.#request;
    const { hostname, port } = new URL(baseUrl);
    const server = { serverAddress: hostname, serverPort: Number(port || 443) };
    this.#activity.emit('bankCallEnded', { target, method: 'GET', ...server, status, ms: this.#ms, code });
  }

  #log(outcome: Record<string, unknown>): void {
    const { target, baseUrl, path, query, headers } = this.#request;
    const refreshId = headers['X-Request-Id'];
    this.#logger.debug(
      {
        event: 'bank.call',
        target,
        host: new URL(baseUrl).host,
        path,
        ...query,
        refreshId,
        ms: Math.round(this.#ms),
        ...outcome,
      },
      'call to the bank',
    );
  }
}
