import { randomUUID } from 'node:crypto';

/** The id a caller sent, when it is 1–64 of [A-Za-z0-9._-], else a new one. */
export function toRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(header) ? header : randomUUID();
}
