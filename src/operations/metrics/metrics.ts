import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry } from '@prometheus-io/client';
import { Settings } from '../../config/settings.js';
import { PROBLEM_CODES, PROBLEMS } from '../../errors/problem-table.js';
import { Activity, type BankCallEnded, type RequestEnded } from '../../telemetry/activity.js';
import { Callers } from './callers.js';
import { toRecentCall } from './recent-call.js';
import { RecentHistory } from './recent-history.js';
import { RequestDurations } from './request-durations.js';

const BANK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const REFRESH_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

/** How an answer came from the cache (RequestFields.cache). */
const CACHE_OUTCOMES = ['hit', 'miss', 'refreshed', 'request', 'stale'] as const;

/** Counts what happens in one app (docs/logs.md#metrics). */
@Injectable()
export class Metrics {
  /** One registry per app, because the library's default registry is shared by the whole process. */
  readonly registry = new Registry();

  readonly requestDurations = new RequestDurations();
  readonly #bankCalls = new Histogram({
    name: 'http_client_request_duration_seconds',
    help: 'Duration of calls to the bank; error_type is the problem code, empty on success.',
    labelNames: [
      'http_request_method',
      'server_address',
      'server_port',
      'http_response_status_code',
      'target',
      'error_type',
    ],
    buckets: BANK_BUCKETS,
    registers: [this.registry],
  });
  readonly #refreshes = this.#counter('refreshes', 'Refreshes by their outcome.', ['outcome']);
  readonly #refreshDuration = new Histogram({
    name: 'accounts_gateway_refresh_duration_seconds',
    help: 'Duration of refreshes, with all pages and retries.',
    buckets: REFRESH_BUCKETS,
    registers: [this.registry],
  });
  readonly #tokenRequests = this.#counter('token_requests', 'Token requests by their outcome.', ['outcome']);
  /** By cache outcome: full responses, and those that are not modified. */
  readonly #responses = new Map(CACHE_OUTCOMES.map((cache) => [cache, { full: 0, 'not-modified': 0 }]));
  readonly #problems = this.#counter('problems', 'Responses that are problem documents.', ['code', 'owner']);

  constructor(
    activity: Activity,
    private readonly callers: Callers,
    private readonly history: RecentHistory,
    { REDIS_URL, SNAPSHOT_FILE }: Settings,
  ) {
    this.#startAtZero();
    this.#countResponses();
    this.#countClientRequests();
    if (REDIS_URL !== undefined || SNAPSHOT_FILE !== undefined) this.#countSources(activity);
    activity.on('requestEnded', (request) => this.#onRequest(request));
    activity.on('bankCallEnded', (call) => this.#onBankCall(call));
    activity.on('tokenRequestEnded', ({ error }) => this.#tokenRequests.inc({ outcome: error?.code ?? 'ok' }));
    activity.on('refreshEnded', ({ ms, error }) => {
      this.#refreshes.inc({ outcome: error?.code ?? 'ok' });
      this.#refreshDuration.observe(ms / 1000);
    });
  }

  /** @param count sets the values at a scrape, for a counter that is counted elsewhere */
  #counter<T extends string>(
    name: string,
    help: string,
    labelNames: T[],
    count?: (this: Counter<T>) => void,
  ): Counter<T> {
    const collect = count && {
      collect(this: Counter<T>) {
        this.reset();
        count.call(this);
      },
    };
    const registers = [this.registry];
    return new Counter({ name: `accounts_gateway_${name}_total`, help, labelNames, registers, ...collect });
  }

  #countSources(activity: Activity): void {
    const snapshots = this.#counter('shared_snapshots', 'Cached snapshots by their source.', ['source']);
    for (const source of ['bank', 'shared', 'file']) snapshots.inc({ source }, 0);
    activity.on('snapshotTaken', ({ source }) => snapshots.inc({ source }));
  }

  /** For Prometheus, a counter that is missing before its first increment never rises. */
  #startAtZero(): void {
    for (const outcome of ['ok', ...PROBLEM_CODES.filter((code) => PROBLEMS[code].owner !== 'caller')]) {
      this.#refreshes.inc({ outcome }, 0);
      this.#tokenRequests.inc({ outcome }, 0);
    }
    for (const code of PROBLEM_CODES) this.#problems.inc({ code, owner: PROBLEMS[code].owner }, 0);
    // a 407, which the operator must act on
    this.#problems.inc({ code: 'proxy-refused', owner: 'operator' }, 0);
  }

  #countResponses(): void {
    const responses = this.#responses;
    this.#counter('responses', 'Successful responses of /api/v1.', ['cache', 'representation'], function () {
      for (const [cache, counts] of responses) {
        for (const [representation, count] of Object.entries(counts)) this.inc({ cache, representation }, count);
      }
    });
  }

  #countClientRequests(): void {
    const { callers } = this;
    this.#counter('client_requests', 'Requests by X-Client-Name.', ['client_name'], function () {
      for (const { name, requests } of callers.requests) this.inc({ client_name: name }, requests);
    });
  }

  /** The one record of a request: metrics, callers and the last hour derive from it. */
  #onRequest(request: RequestEnded): void {
    const { method, route, status, ms, cache, problem } = request;
    this.requestDurations.observe(method, route ?? 'unmatched', status, ms / 1000);
    const call = toRecentCall(request);
    this.callers.record(request, call);
    if (call) this.history.record(call);
    if (problem) {
      this.#problems.inc({ code: problem.code, owner: problem.owner });
      return;
    }
    const counts = cache && this.#responses.get(cache);
    if (!counts) return;
    if (status === 200) counts.full += 1;
    else if (status === 304) counts['not-modified'] += 1;
  }

  #onBankCall({ serverAddress, serverPort, status, target, code, ms }: BankCallEnded): void {
    const labels = {
      http_request_method: 'GET',
      server_address: serverAddress,
      server_port: serverPort,
      http_response_status_code: status ?? '',
      target,
      error_type: code ?? '',
    };
    this.#bankCalls.observe(labels, ms / 1000);
  }
}
