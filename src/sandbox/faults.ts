/** The two endpoints of docs/bank.md. */
export const ENDPOINTS = ['authorize', 'accounts'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Failures that `failNext` can order in place of the answer (docs/sandbox.md#its-switches). */
export const FAULTS = ['401', '404', '429', '500', '503', 'html', 'truncate', 'reset', 'hang', 'malformed'] as const;
export type Fault = (typeof FAULTS)[number];

/** An order of `failNext`: the next `times` answers of an endpoint. */
export interface FaultOrder {
  readonly endpoint: Endpoint;
  readonly times: number;
  readonly with: Fault;
}

/** Faults still to come, one queue for each endpoint, first ordered first served. */
export class FaultQueue {
  #orders: FaultOrder[] = [];

  add(orders: readonly FaultOrder[]): void {
    this.#orders.push(...orders);
  }

  /** Takes the next fault of that endpoint, if one is waiting. */
  take(endpoint: Endpoint): Fault | null {
    const at = this.#orders.findIndex((order) => order.endpoint === endpoint);
    const order = this.#orders[at];
    if (!order) return null;
    this.#orders.splice(at, 1, ...(order.times > 1 ? [{ ...order, times: order.times - 1 }] : []));
    return order.with;
  }

  clear(): void {
    this.#orders = [];
  }

  /** Failures still to come, with the times left. */
  pending(): readonly FaultOrder[] {
    return [...this.#orders];
  }
}
