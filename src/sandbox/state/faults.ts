/** The two endpoints in docs/bank.md. */
export const ENDPOINTS = ['authorize', 'accounts'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Failures that `failNext` can set instead of a normal response (docs/sandbox.md#its-switches). */
export const FAULTS = ['401', '404', '429', '500', '503', 'html', 'truncate', 'reset', 'hang', 'malformed'] as const;
export type Fault = (typeof FAULTS)[number];

/** Maximum number of queued faults. Beyond it, the oldest are dropped. */
export const MAX_QUEUED_FAULTS = 100;

/** A fault queued by `failNext`, for the next `times` responses of an endpoint. */
export interface QueuedFault {
  readonly endpoint: Endpoint;
  readonly times: number;
  readonly with: Fault;
}
