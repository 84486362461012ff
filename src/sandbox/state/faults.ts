/** The two endpoints in docs/bank.md. */
export const ENDPOINTS = ['authorize', 'accounts'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Failures that `failNext` can set instead of a normal response (docs/sandbox.md#its-switches). */
export const FAULTS = ['401', '404', '429', '500', '503', 'html', 'truncate', 'reset', 'hang', 'malformed'] as const;
export type Fault = (typeof FAULTS)[number];

/** Maximum number of pending orders. Further ones displace the oldest. */
export const MAX_ORDERS = 100;

/** An order from `failNext`: the next `times` responses of an endpoint. */
export interface FaultOrder {
  readonly endpoint: Endpoint;
  readonly times: number;
  readonly with: Fault;
}
