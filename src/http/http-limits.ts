/** The limits of docs/bounds.md#callers that are no settings. They are options of what is built, so that no test waits for them. */
export const HTTP_LIMITS = {
  /** The longest that the header of a request, and a TLS handshake, may take. */
  headersTimeoutMs: 10_000,
  /** The longest that a whole request may take, its body included. */
  requestTimeoutMs: 15_000,
  /** Interval at which Node looks at the two timeouts above; its own 30 s would make them 40. */
  timeoutLookMs: 1000,
  /** The longest that an idle connection is kept. */
  keepAliveMs: 65_000,
  /** Requests of one connection. No browser, proxy, script or probe pipelines as many. */
  unanswered: 8,
  /** Interval of the looks for stalled clients. One who takes no byte for 6 looks in a row, 30 s, is disconnected. */
  stallLookMs: 5000,
  stalledLooks: 6,
  /** Response bytes that wait for all clients together. */
  waitingBytes: 64 * 1024 * 1024,
  waitingLookMs: 250,
  /** The longest that a client may go on sending after the last response, so that it can read it (RFC 9112 §9.6). */
  lingerMs: 1000,
  /** At a stop: how long requests on open connections are still answered after the listener is closed. */
  lastRequestMs: 500,
  /** Interval of the looks at TLS_CERT_FILE: a changed file is in use within 5 s (docs/certificates.md#renew-the-certificate). */
  certificateLookMs: 1000,
};

export type HttpLimits = Readonly<typeof HTTP_LIMITS>;
