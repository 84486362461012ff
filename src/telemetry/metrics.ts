import { collectDefaultMetrics, Counter, Histogram, Registry, type Metric } from '@prometheus-io/client';
import type { Activity, BankCallEnded, RefreshEnded, RequestEnded } from './activity.js';
import { PROBLEM_CODES, PROBLEMS } from '../problems/problem-table.js';
import { toKnownMethod } from './spans.js';
import { ClientNames } from './client-names.js';

/** From an answer out of memory to the last second of REQUEST_DEADLINE_MS, and what was set longer. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const BANK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const READING_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

const CACHE_OUTCOMES = ['hit', 'miss', 'stale', 'request'];
const REPRESENTATIONS = ['full', 'not-modified'];
/** What the work of the gateway itself can fail with. */
const OUTCOMES = ['ok', ...PROBLEM_CODES.filter((code) => PROBLEMS[code].owner !== 'caller')];

const OPEN_METRICS = 'application/openmetrics-text';
const MAX_ACCEPT_LENGTH = 1000;

/** The figures of one app as Prometheus reads them (docs/monitoring.md#metrics): what happened is counted here. */
export class Metrics {
  /** Other rooms' gauges are added to it. */
  readonly registry = new Registry();
  readonly #activity: Activity;
  readonly #clientNames = new ClientNames();
  readonly #registers = { registers: [this.registry] };

  readonly #requests = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'How long requests took, refused ones included.',
    labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
    buckets: REQUEST_BUCKETS,
    ...this.#registers,
  });
  readonly #bankCalls = new Histogram({
    name: 'http_client_request_duration_seconds',
    help: 'How long calls to the bank took; error_type is the code of the problem, empty without one.',
    labelNames: ['target', 'error_type'],
    buckets: BANK_BUCKETS,
    ...this.#registers,
  });
  readonly #readings = this.#counter('readings', 'Readings of all accounts.', ['outcome']);
  readonly #refreshDuration = new Histogram({
    name: 'accounts_gateway_refresh_duration_seconds',
    help: 'How long readings of all accounts took, with all their pages and repeats.',
    buckets: READING_BUCKETS,
    ...this.#registers,
  });
  readonly #tokenRequests = this.#counter('token_requests', 'Requests for an access token.', ['outcome']);
  readonly #responses = this.#counter('responses', 'Good answers of the accounts API.', ['cache', 'representation']);
  readonly #problems = this.#counter('problems', 'Answers that were problem documents.', ['code', 'owner']);
  readonly #clientRequests = this.#counter('client_requests', 'Requests by X-Client-Name.', ['client_name']);

  constructor(activity: Activity) {
    this.#beginAtZero();
    this.#activity = activity;
    activity.on('requestsEnded', (requests) => {
      for (const request of requests) this.#onRequest(request);
    });
    activity.on('bankCallEnded', (call) => this.#onBankCall(call));
    activity.on('refreshEnded', (reading) => this.#onRefresh(reading));
    activity.on('tokenRequestEnded', ({ code }) => this.#tokenRequests.inc({ outcome: code ?? 'ok' }));
  }

  /** All figures, those of the process included. @param open as OpenMetrics, else in the text format of Prometheus */
  async render(open: boolean): Promise<{ readonly contentType: string; readonly text: string }> {
    this.#activity.flush();
    const whole = new Registry(open ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE);
    for (const registry of [this.registry, processMetrics()]) {
      // for OpenMetrics the library renames the counters it is given, and would leave them so
      for (const metric of registry.getMetricsAsArray()) whole.registerMetric(Object.create(metric) as Metric);
    }
    return { contentType: whole.contentType, text: await whole.metrics() };
  }

  #counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter({ name: `accounts_gateway_${name}_total`, help, labelNames, ...this.#registers });
  }

  /** A counter that is not there before it has risen never rises for Prometheus, and is no part of a sum. */
  #beginAtZero(): void {
    for (const outcome of OUTCOMES) {
      this.#readings.inc({ outcome }, 0);
      this.#tokenRequests.inc({ outcome }, 0);
    }
    for (const code of PROBLEM_CODES) this.#problems.inc({ code, owner: PROBLEMS[code].owner }, 0);
    for (const cache of CACHE_OUTCOMES) {
      for (const representation of REPRESENTATIONS) this.#responses.inc({ cache, representation }, 0);
    }
    for (const target of ['token', 'accounts']) this.#bankCalls.zero({ target, error_type: '' });
  }

  #onRequest({ method, route, status, ms, cache, problem, clientName }: RequestEnded): void {
    const labels = {
      http_request_method: toKnownMethod(method),
      http_route: route ?? 'unmatched',
      http_response_status_code: status,
    };
    this.#requests.observe(labels, ms / 1000);
    this.#clientRequests.inc({ client_name: this.#clientNames.toLabel(clientName) });
    if (problem) this.#problems.inc({ code: problem.code, owner: problem.owner });
    else if (cache !== undefined && (status === 200 || status === 304)) {
      this.#responses.inc({ cache, representation: status === 304 ? 'not-modified' : 'full' });
    }
  }

  #onBankCall({ target, ms, code }: BankCallEnded): void {
    this.#bankCalls.observe({ target, error_type: code ?? '' }, ms / 1000);
  }

  #onRefresh({ ms, code }: RefreshEnded): void {
    this.#readings.inc({ outcome: code ?? 'ok' });
    this.#refreshDuration.observe(ms / 1000);
  }
}

let processRegistry: Registry | null = null;

/**
 * The figures of this process and of Node. One for all apps of a process, and not before somebody asks: they observe garbage
 * collections and the event loop from then on, and cannot be told to stop.
 */
function processMetrics(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}

/** Whether an Accept header prefers OpenMetrics to the text format, which everybody else gets, whatever they accept. */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  const ranges = (accept ?? '')
    .slice(0, MAX_ACCEPT_LENGTH)
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 };
    });
  const best = (type: string) =>
    Math.max(0, ...ranges.filter((each) => each.type === type).map((each) => each.quality));
  return best(OPEN_METRICS) > best('text/plain');
}
