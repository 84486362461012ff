import { GatewayError } from '../problems/gateway-error.js';

/** A place among those who wait for the bank. */
export interface WaitingPlace {
  /** Aborted with `overloaded` when the place is needed for another client. */
  readonly lost: AbortSignal;
  leave(): void;
}

/**
 * Who may wait for the bank at once (MAX_REQUESTS_WAITING). While there are places anybody gets one; when there are none,
 * the client that holds the most gives its oldest one to a client that holds fewer, so that nobody can keep all others out.
 */
export class WaitingPlaces {
  readonly #max: number;
  readonly #byClient = new Map<string, Set<AbortController>>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** @throws GatewayError overloaded */
  take(client: string): WaitingPlace {
    const mine = this.#byClient.get(client) ?? new Set();
    if (this.#taken >= this.#max) {
      const most = this.#greediest();
      const [oldest] = most;
      if (!oldest || most.size <= mine.size + 1) throw this.#overloaded();
      most.delete(oldest);
      this.#taken -= 1;
      oldest.abort(this.#overloaded());
    }
    const place = new AbortController();
    mine.add(place);
    this.#byClient.set(client, mine);
    this.#taken += 1;
    return { lost: place.signal, leave: () => this.#leave(client, mine, place) };
  }

  #leave(client: string, places: Set<AbortController>, place: AbortController): void {
    if (!places.delete(place)) return;
    this.#taken -= 1;
    if (places.size === 0) this.#byClient.delete(client);
  }

  #greediest(): Set<AbortController> {
    let most = new Set<AbortController>();
    for (const places of this.#byClient.values()) if (places.size > most.size) most = places;
    return most;
  }

  #overloaded(): GatewayError {
    return new GatewayError(
      'overloaded',
      `${this.#max} callers are waiting for the bank already (MAX_REQUESTS_WAITING).`,
      { retryAfterMs: 1000 },
    );
  }
}
