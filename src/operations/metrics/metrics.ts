import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry } from '@prometheus-io/client';
import { PROBLEM_CODES, PROBLEMS } from '../../errors/problem-table.js';
import { Activity, type BankCallEnded, type RequestEnded } from '../../telemetry/activity.js';
import { toKnownMethod } from '../../telemetry/known-method.js';
import { Tally } from './tally.js';

/** Seconds, from a response out of memory to the longest REQUEST_DEADLINE_MS. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const BANK_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const REFRESH_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

/** How an answer came from the cache (RequestFields.cache). */
const CACHE_OUTCOMES = ['hit', 'miss', 'refreshed', 'request', 'stale'] as const;

const MAX_CLIENT_NAMES = 50;
const CLIENT_NAME = /^[A-Za-z0-9._-]{1,40}$/;
const MAX_DIGITS = 4;

/** Counts what happens in one app (docs/health-and-metrics.md#metrics). */
@Injectable()
export class Metrics {
  /** One registry per app, because the library's default registry is shared by the whole process. */
  readonly registry = new Registry();
  readonly #clientNames = new ClientNames();

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
  readonly #responses = new Tally(
    this.#options('responses', 'Successful responses of /api/v1.', ['cache', 'representation']),
  );
  readonly #problems = this.#counter('problems', 'Responses that are problem documents.', ['code', 'owner']);
  readonly #clientRequests = new Tally(this.#options('client_requests', 'Requests by X-Client-Name.', ['client_name']));

  constructor(activity: Activity) {
    this.#startAtZero();
    activity.on('requestEnded', (request) => this.#onRequest(request));
    activity.on('bankCallEnded', (call) => this.#onBankCall(call));
    activity.on('tokenRequestEnded', ({ code }) => this.#tokenRequests.inc({ outcome: code ?? 'ok' }));
    activity.on('refreshEnded', ({ ms, code }) => {
      this.#refreshes.inc({ outcome: code ?? 'ok' });
      this.#refreshDuration.observe(ms / 1000);
    });
  }

  #counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter(this.#options(name, help, labelNames));
  }

  #options<T extends string>(name: string, help: string, labelNames: T[]) {
    return { name: `accounts_gateway_${name}_total`, help, labelNames, registers: [this.registry] };
  }

  /** For Prometheus, a counter that is missing before its first increment never rises. */
  #startAtZero(): void {
    for (const outcome of ['ok', ...PROBLEM_CODES.filter((code) => PROBLEMS[code].owner !== 'caller')]) {
      this.#refreshes.inc({ outcome }, 0);
      this.#tokenRequests.inc({ outcome }, 0);
    }
    for (const code of PROBLEM_CODES) this.#problems.inc({ code, owner: PROBLEMS[code].owner }, 0);
    for (const cache of CACHE_OUTCOMES) {
      for (const representation of ['full', 'not-modified']) this.#responses.add(`${cache} ${representation}`, 0);
    }
  }

  #onRequest({ method, route, status, ms, cache, problem, clientName }: RequestEnded): void {
    const labels = {
      http_request_method: toKnownMethod(method),
      http_route: route ?? 'unmatched',
      http_response_status_code: status,
    };
    this.#requests.observe(labels, ms / 1000);
    this.#clientRequests.add(this.#clientNames.toLabel(clientName));
    if (problem) this.#problems.inc({ code: problem.code, owner: problem.owner });
    else if (cache !== undefined && (status === 200 || status === 304)) {
      this.#responses.add(status === 304 ? `${cache} not-modified` : `${cache} full`);
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

/**
 * The label for a caller's X-Client-Name (docs/health-and-metrics.md#labels): the first 50 that look like names of programs;
 * `other` for the rest, which may hold anything, and `none` without one.
 */
export class ClientNames {
  readonly #known = new Set<string>();

  toLabel(header: string | undefined): string {
    if (header === undefined || header === '') return 'none';
    if (this.#known.has(header)) return header;
    if (this.#known.size >= MAX_CLIENT_NAMES || !CLIENT_NAME.test(header) || countDigits(header) > MAX_DIGITS)
      return 'other';
    this.#known.add(header);
    return header;
  }
}

/** Counts digits: a name with many of them may contain an identifier or an amount. */
const countDigits = (text: string): number => text.replace(/\D/g, '').length;
