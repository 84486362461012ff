import type { HeaderObject, ReferenceObject } from '@nestjs/swagger';

const text = (description: string, example: string): HeaderObject => ({
  description,
  schema: { type: 'string', example },
});
const seconds = (description: string, example: number, minimum: number): HeaderObject => ({
  description,
  schema: { type: 'integer', minimum, example },
});
const flag = (description: string, values: readonly string[]): HeaderObject => ({
  description,
  schema: { type: 'string', enum: [...values], example: values[0] },
});

/** The gateway's response headers (docs/api.md, Headers). */
export const RESPONSE_HEADERS = {
  Age: seconds('The age of the data, in seconds.', 3, 0),
  'Cache-Control': text('How long the answer stays fresh.', 'private, max-age=7'),
  'Cache-Status': text('How the cache handled the request (RFC 9211).', 'accounts-gateway; hit; ttl=7'),
  ETag: text('Identifies the data, whatever its age. For `If-None-Match`.', 'W/"bcWj5eK93YVZHCfq4huO6BfHDN6"'),
  'Retry-After': seconds('Seconds to wait before a retry; on every 503.', 2, 1),
  'Snapshot-As-Of': {
    description: 'When the bank was asked. After a 304 it overrides the body that the caller holds.',
    schema: { type: 'string', format: 'date-time', example: '2026-11-21T08:00:00.000Z' },
  },
  'Snapshot-Complete': flag(
    "`true` if the number of accounts agrees with the bank's own count; `null` if the bank gives none.",
    ['true', 'false', 'null'],
  ),
  'Snapshot-Stale': flag('`true` if the data is older than it should be, because the bank is slow or failing.', [
    'false',
    'true',
  ]),
  'X-Request-Id': text(
    'The id that the caller sent, or a new one. Finds the log line.',
    '8ec19755-b535-4e79-b06c-11d12898fbe0',
  ),
} as const satisfies Record<string, HeaderObject>;

type HeaderName = keyof typeof RESPONSE_HEADERS;

/** References to these headers and to `X-Request-Id`, which every response has. */
export function headersNamed(...names: HeaderName[]): Record<string, ReferenceObject> {
  return Object.fromEntries([...names, 'X-Request-Id'].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
