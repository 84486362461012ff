import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry } from '@prometheus-io/client';
import { Settings } from '../../config/settings.js';
import { PROBLEM_CODES, PROBLEMS } from '../../errors/problem-table.js';
import { Activity, type BankCallEnded, type RequestEnded } from '../../telemetry/activity.js';
import { toKnownMethod } from '../../telemetry/known-method.js';
import { ClientNames } from './client-names.js';

/** Seconds, from a response out of memory to the longest REQUEST_DEADLINE_MS. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const BANK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const REFRESH_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

/** How an answer came from the cache (RequestFields.cache). */
const CACHE_OUTCOMES = ['hit', 'miss', 'refreshed', 'request', 'stale'] as const;

/** Counts what happens in one app (docs/health-and-metrics.md#metrics). */
@Injectable()
export class Metrics {
  /** One registry per app, because the library's default registry is shared by the whole process. */
  readonly registry = new Registry();

  readonly #requests = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Duration of requests, refused ones included.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: REQUEST_BUCKETS,
    registers: [this.registry],
  });
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
  readonly #responses = this.#counter('responses', 'Successful responses of /api/v1.', ['cache', 'representation']);
  readonly #problems = this.#counter('problems', 'Responses that are problem documents.', ['code', 'owner']);
  readonly #clientRequests = this.#counter('client_requests', 'Requests by X-Client-Name.', ['client_name']);

  constructor(
    activity: Activity,
    private readonly clientNames: ClientNames,
    { REDIS_URL, SNAPSHOT_FILE }: Settings,
  ) {
    this.#startAtZero();
    if (REDIS_URL !== undefined || SNAPSHOT_FILE !== undefined) this.#countSources(activity);
    activity.on('requestEnded', (request) => this.#onRequest(request));
    activity.on('bankCallEnded', (call) => this.#onBankCall(call));
    activity.on('tokenRequestEnded', ({ error }) => this.#tokenRequests.inc({ outcome: error?.code ?? 'ok' }));
    activity.on('refreshEnded', ({ ms, error }) => {
      this.#refreshes.inc({ outcome: error?.code ?? 'ok' });
      this.#refreshDuration.observe(ms / 1000);
    });
  }

  #counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter({ name: `accounts_gateway_${name}_total`, help, labelNames, registers: [this.registry] });
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
    for (const cache of CACHE_OUTCOMES) {
      for (const representation of ['full', 'not-modified']) this.#responses.inc({ cache, representation }, 0);
    }
  }

  #onRequest(request: RequestEnded): void {
    const { method, route, status, ms, cache, problem } = request;
    const labels = {
      http_request_method: toKnownMethod(method),
      http_route: route ?? 'unmatched',
      http_response_status_code: status,
    };
    this.#requests.observe(labels, ms / 1000);
    this.#clientRequests.inc({ client_name: this.clientNames.of(request) });
    if (problem) this.#problems.inc({ code: problem.code, owner: problem.owner });
    else if (cache !== undefined && (status === 200 || status === 304)) {
      this.#responses.inc({ cache, representation: status === 304 ? 'not-modified' : 'full' });
    }
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
