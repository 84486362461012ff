const MB = 1024 * 1024;

/** Bytes of a URL and the header together. */
export const MAX_HEADER_BYTES = 16_384;

/** The limits of docs/bounds.md#callers that are not settings. Tests pass shorter ones. */
export const HTTP_LIMITS = {
  /** Time limit for the header of a request, and for a TLS handshake. */
  headersTimeoutMs: 10_000,
  /** Time limit for a whole request, its body included. */
  requestTimeoutMs: 15_000,
  /** Interval at which Node checks the two timeouts above. Its default, 30 s, would make the first one 40 s. */
  timeoutCheckMs: 1000,
  /** The longest that an idle connection is kept. */
  keepAliveMs: 65_000,
  /** A connection without a byte in either direction for this long is closed; Node notices at most as much later. */
  inactiveMs: 30_000,
  /** The same, beyond the deadline of a response: until then nothing need be sent. */
  inactiveAfterDeadlineMs: 10_000,
  /** Requests of one connection. No browser, proxy, script or probe pipelines as many. */
  unanswered: 8,
  /** Bytes of all response bodies under way. */
  bytesUnderWay: 256 * MB,
  /** The longest that a client may go on sending after the last response, so that it can read it (RFC 9112 §9.6). */
  lingerMs: 1000,
  /** At a stop: how long requests on open connections are still answered after the listener is closed. */
  lastRequestMs: 500,
};

export type HttpLimits = Readonly<typeof HTTP_LIMITS>;
