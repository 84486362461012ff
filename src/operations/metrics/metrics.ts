import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry } from '@prometheus-io/client';
import { Settings } from '../../config/settings.js';
import { PROBLEM_CODES, PROBLEMS, withOwner } from '../../errors/problem-table.js';
import { Activity, CACHE_OUTCOMES, type BankCallEnded, type RequestEnded } from '../../telemetry/activity.js';
import { toRecentCall } from './call-tally.js';
import { Callers } from './callers.js';
import { RecentHistory } from './recent-history.js';

/** Buckets in seconds, from a response served from memory to four times the default REQUEST_DEADLINE_MS. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const REFRESH_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

/** Counts the events in one app (docs/logs.md#metrics). */
@Injectable()
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#histogram(
    'http_server_request_duration_seconds',
    'Duration of requests, rejected ones included.',
    ['http_request_method', 'http_route', 'http_response_status_code'],
    REQUEST_BUCKETS,
  );
  readonly #responses = this.#counter('responses', 'Successful responses of /api/v1.', ['cache', 'representation']);
  readonly #problems = this.#counter('problems', 'Responses that are problem documents.', ['code', 'owner']);
  readonly #bankCalls = this.#histogram(
    'http_client_request_duration_seconds',
    'Duration of calls to the bank; error_type is the problem code, empty on success.',
    ['http_request_method', 'server_address', 'server_port', 'http_response_status_code', 'target', 'error_type'],
    CALL_BUCKETS,
  );
  readonly #tokenRequests = this.#counter('token_requests', 'Token requests by their outcome.', ['outcome']);
  readonly #refreshes = this.#counter('refreshes', 'Refreshes by their outcome.', ['outcome']);
  readonly #refreshDurations = this.#histogram(
    'accounts_gateway_refresh_duration_seconds',
    'Duration of refreshes, with all pages and retries.',
    [],
    REFRESH_BUCKETS,
  );
  readonly #clientRequests = this.#counter('client_requests', 'Requests by X-Client-Name.', ['client_name']);
  readonly #sources: Counter<'source'> | null;

  constructor(
    activity: Activity,
    private readonly callers: Callers,
    private readonly history: RecentHistory,
    { REDIS_URL, SNAPSHOT_FILE }: Settings,
  ) {
    const isShared = REDIS_URL !== undefined || SNAPSHOT_FILE !== undefined;
    this.#sources = isShared
      ? this.#counter('shared_snapshots', 'Cached snapshots by their source.', ['source'])
      : null;
    this.#startAtZero();
    activity.on('requestEnded', (request) => this.#onRequest(request));
    activity.on('bankCallEnded', (call) => this.#onBankCall(call));
    activity.on('tokenRequestEnded', ({ error }) => this.#tokenRequests.inc({ outcome: error?.code ?? 'ok' }));
    activity.on('refreshEnded', ({ ms, error }) => {
      this.#refreshes.inc({ outcome: error?.code ?? 'ok' });
      this.#refreshDurations.observe(ms / 1000);
    });
    activity.on('snapshotTaken', ({ source }) => this.#sources?.inc({ source }));
  }

  toText(): Promise<string> {
    this.#clientRequests.reset();
    for (const { name, requests } of this.callers.requests) this.#clientRequests.inc({ client_name: name }, requests);
    return this.#registry.metrics();
  }

  #counter<T extends string>(name: string, help: string, labelNames: readonly T[]) {
    return new Counter({ name: `accounts_gateway_${name}_total`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<T extends string>(name: string, help: string, labelNames: readonly T[], buckets: number[]): Histogram<T> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }

  /** In Prometheus, a counter that is missing before its first increment seems never to rise. */
  #startAtZero(): void {
    for (const outcome of ['ok', ...PROBLEM_CODES.filter((code) => PROBLEMS[code].owner !== 'caller')]) {
      this.#refreshes.inc({ outcome }, 0);
      this.#tokenRequests.inc({ outcome }, 0);
    }
    for (const code of PROBLEM_CODES) this.#problems.inc(withOwner(code), 0);
    // after a 407, for example
    this.#problems.inc({ code: 'proxy-refused', owner: 'operator' }, 0);
    for (const cache of CACHE_OUTCOMES) {
      this.#responses.inc({ cache, representation: 'full' }, 0);
      this.#responses.inc({ cache, representation: 'not-modified' }, 0);
    }
    for (const source of ['bank', 'shared', 'file']) this.#sources?.inc({ source }, 0);
  }

  /** The one record of a request: metrics, callers and the last hour derive from it. */
  #onRequest(request: RequestEnded): void {
    const { method, route, status, ms, cache, problem } = request;
    this.#requests.observe(
      { http_request_method: method, http_route: route ?? 'unmatched', http_response_status_code: status },
      ms / 1000,
    );
    const call = toRecentCall(request);
    this.callers.record(request, call);
    if (call) this.history.calls.record(call);
    if (problem) this.#problems.inc({ code: problem.code, owner: problem.owner });
    else if (cache && status === 200) this.#responses.inc({ cache, representation: 'full' });
    else if (cache && status === 304) this.#responses.inc({ cache, representation: 'not-modified' });
  }

  #onBankCall({ serverAddress, serverPort, status, target, code, ms }: BankCallEnded): void {
    this.#bankCalls.observe(
      {
        http_request_method: 'GET',
        server_address: serverAddress,
        server_port: serverPort,
        http_response_status_code: status ?? '',
        target,
        error_type: code ?? '',
      },
      ms / 1000,
    );
  }
}
