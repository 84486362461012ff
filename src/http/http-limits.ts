/** The limits of docs/bounds.md#callers that are not settings. Classes take them as options, so that tests need not wait. */
export const HTTP_LIMITS = {
  /** Time limit for the header of a request, and for a TLS handshake. */
  headersTimeoutMs: 10_000,
  /** Time limit for a whole request, its body included. */
  requestTimeoutMs: 15_000,
  /** Interval at which Node checks the two timeouts above. Its default, 30 s, would make the first one 40 s. */
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
