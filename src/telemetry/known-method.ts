const KNOWN_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'TRACE']);

/** A method as a label, by the conventions of OpenTelemetry: `_OTHER` for any that HTTP does not define. */
export const toKnownMethod = (method: string | null): string =>
  method !== null && KNOWN_METHODS.has(method) ? method : '_OTHER';
