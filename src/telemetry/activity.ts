import { EventEmitter } from 'node:events';
import type { Span } from '@opentelemetry/api';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';

/** The status of a request whose caller left before the response was sent. */
export const CALLER_LEFT = 499;

/**
 * The snapshot of a response: cached; from a refresh, because nothing was cached, the cached one was too old, or the
 * caller asked for it; or an older one, marked stale.
 */
export const CACHE_OUTCOMES = ['hit', 'miss', 'refreshed', 'request', 'stale'] as const;

/** Fields of a request for its log line and metrics (docs/logs.md#events). */
export interface RequestFields {
  /** Time of arrival, by `performance.now()`. */
  readonly startedAt: number;
  /** The server span of the request, while traces are sent. */
  readonly span: Span | undefined;
  /** Bytes of the body of its response. */
  bytes: number;
  /** Aborts when the caller leaves; created for a request that waits. */
  left?: AbortController;
  cache?: (typeof CACHE_OUTCOMES)[number];
  /** The refresh that the request waited for. */
  refreshId?: string;
  /** The code of the problem response, and the party that must act. */
  problem?: Pick<GatewayError, 'code' | 'owner'>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Created by the request log for every request; each component adds the fields that it knows. */
    logFields: RequestFields;
    /** Aborted when the response closes before all of it was sent: its caller has left. */
    readonly callerLeft: AbortSignal;
  }
}

/** A request that got its response or whose caller has left, even if it was rejected before it was parsed. */
export interface RequestEnded {
  /** A method that HTTP defines; else `_OTHER`. */
  readonly method: string;
  /** The template of its route. */
  readonly route?: string | undefined;
  /** True for a route of the API. */
  readonly isCall?: boolean;
  readonly status: number;
  readonly ms: number;
  readonly cache?: RequestFields['cache'] | undefined;
  readonly problem?: RequestFields['problem'] | undefined;
  /** X-Client-Name as sent by the caller: it may be anything. */
  readonly clientName?: string | undefined;
  /** True for a call by the project's own pages. */
  readonly isOwnPage?: boolean;
}

/** A completed or failed GET to the bank. Canceled calls are not reported. */
export interface BankCallEnded {
  readonly target: 'token' | 'accounts';
  readonly serverAddress: string;
  readonly serverPort: number;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** Duration, excluding the wait for a slot. */
  readonly ms: number;
  /** The problem of a failed call; null on success. */
  readonly code: ProblemCode | null;
}

/** `error` is the failure of the work; null on success. */
interface ActivityEvents {
  requestEnded: [RequestEnded];
  bankCallEnded: [BankCallEnded];
  /** `tokens` is the provider that made the request. */
  tokenRequestEnded: [{ readonly tokens: object; readonly error: GatewayError | null }];
  /**
   * `ms` includes all pages and retries; `waitedMs` is without this service's own work. `replacedAgeMs` is the age of the cached copy at the end; null without one.
   */
  refreshEnded: [
    {
      readonly ms: number;
      readonly waitedMs: number;
      readonly error: GatewayError | null;
      readonly replacedAgeMs: number | null;
    },
  ];
  /** A snapshot was cached: from the bank, from another instance, or from an earlier run's file. */
  snapshotTaken: [{ readonly source: 'bank' | 'shared' | 'file' }];
}

/**
 * Emits the activity of one app for metrics and history. Listeners run within a request: they must be fast and must not
 * throw.
 */
export class Activity extends EventEmitter<ActivityEvents> {}
