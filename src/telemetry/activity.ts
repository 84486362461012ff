import { EventEmitter } from 'node:events';
import type { Span } from '@opentelemetry/api';
import type { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';

/** The status of a response that ended early: its caller left, or a download was cut off. */
export const CALLER_LEFT = 499;

/** Cached; from a refresh, because nothing was cached, it was too old, or the caller asked for it; or marked stale. */
export const CACHE_OUTCOMES = ['hit', 'miss', 'refreshed', 'request', 'stale'] as const;

/** Fields of a request for its log line and metrics (docs/logs.md#events). */
export interface RequestFields {
  /** Time of arrival, by `performance.now()`. */
  readonly startedAt: number;
  /** The server span of the request, while traces are sent. */
  readonly span: Span | undefined;
  /** Bytes of its response body. */
  bytes: number;
  /** Aborts when the caller leaves; created for a request that waits. */
  left?: AbortController;
  cache?: (typeof CACHE_OUTCOMES)[number];
  /** The refresh that the request waited for. */
  refreshId?: string;
  problem?: Pick<GatewayError, 'code' | 'owner'>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Each component adds the fields that it knows. */
    logFields: RequestFields;
    /** Aborted when the response closes before all of it was sent. */
    readonly callerLeft: AbortSignal;
  }
}

/** A request that got its response or whose caller has left, also one that was rejected before it was parsed. */
export interface RequestEnded {
  /** A method that HTTP defines; else `_OTHER`. */
  readonly method: string;
  /** A template. */
  readonly route?: string | undefined;
  /** True for a route of the API. */
  readonly isCall?: boolean;
  readonly status: number;
  readonly ms: number;
  readonly cache?: RequestFields['cache'] | undefined;
  readonly problem?: RequestFields['problem'] | undefined;
  /** X-Client-Name: it may be anything. */
  readonly clientName?: string | undefined;
  /** True for a call by the project's own pages. */
  readonly isOwnPage?: boolean;
}

/** A GET to the bank. Canceled calls are not reported. */
export interface BankCallEnded {
  readonly target: 'token' | 'accounts';
  readonly serverAddress: string;
  readonly serverPort: number;
  /** Null without a response. */
  readonly status: number | null;
  /** Duration, excluding the wait for a slot. */
  readonly ms: number;
  /** Null on success. */
  readonly code: ProblemCode | null;
}

/** `error`: null on success. */
interface ActivityEvents {
  requestEnded: [RequestEnded];
  bankCallEnded: [BankCallEnded];
  /** `tokens` is the provider that made the request. */
  tokenRequestEnded: [{ readonly tokens: object; readonly error: GatewayError | null }];
  /** `waitedMs`: `ms` without this service's own work. `replacedAgeMs`: age of the cached copy at the end; null without one. */
  refreshEnded: [
    {
      readonly ms: number;
      readonly waitedMs: number;
      readonly error: GatewayError | null;
      readonly replacedAgeMs: number | null;
    },
  ];
  /** A snapshot was taken: from the bank, from another instance, or from an earlier run's file. */
  snapshotTaken: [{ readonly source: 'bank' | 'shared' | 'file' }];
}

/** The activity of one app. Listeners run within `emit`: they must be fast and must not throw. */
export class Activity extends EventEmitter<ActivityEvents> {}
