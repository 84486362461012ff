const MB = 1024 * 1024;

/** Maximum size of the URL and the header together, bytes. */
export const MAX_HEADER_BYTES = 16_384;

/** The router rejects a longer path segment. An id has up to 200 UTF-16 units of at most 9 encoded characters. */
export const MAX_SEGMENT_LENGTH = 1800;

/** Maximum size of a request body, which the API does not use, bytes. */
export const MAX_BODY_BYTES = 1024;

/** The limits of docs/bounds.md#callers that are not settings. Tests pass shorter ones. */
export const HTTP_LIMITS = {
  /** Time limit for the header of a request, and for a TLS handshake. */
  headersTimeoutMs: 10_000,
  /** Time limit for a whole request, including its body. */
  requestTimeoutMs: 15_000,
  /** Interval at which Node checks the two timeouts above. Its default, 30 s, would make the first one 40 s. */
  timeoutCheckMs: 1000,
  keepAliveMs: 65_000,
  /** During a request, a connection is closed after this long without a byte, or up to the same time later. */
  inactiveMs: 30_000,
  /** The same, beyond the deadline of a response: until then, nothing need be sent. */
  inactiveAfterDeadlineMs: 10_000,
  /** Maximum number of requests under way on one connection. */
  unanswered: 8,
  /** Bytes of all response bodies in flight. */
  bytesUnderWay: 256 * MB,
  /** Maximum time that a client may keep sending after the last response, so that it can read it (RFC 9112 §9.6). */
  lingerMs: 1000,
  /** During a stop: time for which requests on open connections are still answered after the listener is closed. */
  lastRequestMs: 500,
};

export type HttpLimits = Readonly<typeof HTTP_LIMITS>;
