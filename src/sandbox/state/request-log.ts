import type { Endpoint, Fault } from './faults.js';

const KEPT = 10_000;

/** A request that reached the sandbox after TLS, without secrets. */
export interface SeenRequest {
  /** Time of arrival, ISO 8601. */
  readonly at: string;
  /** Null for a path that is not served. */
  readonly endpoint: Endpoint | null;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Null until the sandbox responds; stays null if it never does (reset, hang, the client left). */
  readonly status: number | null;
  /** The failure that `failNext` set for it. */
  readonly fault: Fault | null;
  /** SHA-1 of the client certificate, upper-case hex. */
  readonly thumbprint: string | null;
  readonly clientAddress: string;
  readonly pageNumber: number | null;
  readonly pageSize: number | null;
  /** Its X-Request-Id, at most 128 characters. */
  readonly requestId: string | null;
  /** Number, from 1, of the token issued to it or presented by it; null without one, or with an unknown one. */
  readonly tokenNumber: number | null;
  /** Names of its headers, in lower case. */
  readonly headerNames: readonly string[];
}

type Draft = { -readonly [K in keyof SeenRequest]: SeenRequest[K] };

/** The last ten thousand requests, oldest first. */
export class RequestLog {
  readonly #seen: Draft[] = [];
  /**
   * Failed TLS handshakes: mostly from clients without a certificate of the sandbox, or without trust in the server's.
   */
  handshakesFailed = 0;

  get all(): readonly SeenRequest[] {
    return this.#seen;
  }

  /** Adds a request at its arrival. The entry may be completed later. */
  add(request: SeenRequest): Draft {
    const draft = { ...request };
    this.#seen.push(draft);
    if (this.#seen.length > KEPT) this.#seen.shift();
    return draft;
  }
}
