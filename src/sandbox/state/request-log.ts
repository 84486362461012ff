import type { Endpoint, Fault } from './faults.js';

const KEPT = 10_000;

/** A request that reached the sandbox after TLS, without secrets: no header values, no token, no body. */
export interface SeenRequest {
  /** ISO time of its arrival. */
  readonly at: string;
  /** Null for a path that is not served. */
  readonly endpoint: Endpoint | null;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Null until it is answered; stays null if it never is (reset, hang, the client left). */
  readonly status: number | null;
  /** The failure that `failNext` ordered for it. */
  readonly fault: Fault | null;
  /** SHA-1 of the client certificate it came with, upper-case hex. */
  readonly thumbprint: string | null;
  readonly clientAddress: string;
  readonly pageNumber: number | null;
  readonly pageSize: number | null;
  /** Its X-Request-Id, at most 128 characters. */
  readonly requestId: string | null;
  /** Number, from 1, of the token issued to it or presented by it; null without one, or with a foreign one. */
  readonly tokenNumber: number | null;
  /** Names of its headers, lower case. */
  readonly headerNames: readonly string[];
}

type Draft = { -readonly [K in keyof SeenRequest]: SeenRequest[K] };

/** The last ten thousand requests, oldest first. */
export class RequestLog {
  readonly #seen: Draft[] = [];
  /** Failed TLS handshakes: mostly clients without a certificate of the sandbox, or that do not trust the server's. */
  handshakesFailed = 0;

  get all(): readonly SeenRequest[] {
    return this.#seen;
  }

  /** Adds an arrival. The entry may be completed later. */
  add(request: SeenRequest): Draft {
    const draft = { ...request };
    this.#seen.push(draft);
    if (this.#seen.length > KEPT) this.#seen.shift();
    return draft;
  }
}
