/** The two endpoints of docs/bank.md. */
export const ENDPOINTS = ['authorize', 'accounts'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Failures that `failNext` can order in place of the answer (docs/sandbox.md#its-switches). */
export const FAULTS = ['401', '404', '429', '500', '503', 'html', 'truncate', 'reset', 'hang', 'malformed'] as const;
export type Fault = (typeof FAULTS)[number];

/** Orders that may wait. Further ones displace the oldest. */
export const MAX_ORDERS = 100;

/** An order of `failNext`: the next `times` answers of an endpoint. */
export interface FaultOrder {
  readonly endpoint: Endpoint;
  readonly times: number;
  readonly with: Fault;
}
