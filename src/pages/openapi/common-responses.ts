import type { OpenAPIObject } from '@nestjs/swagger';
import { problemSchema } from '../../errors/problem-document.js';
import { PROBLEM_CODES, PROBLEMS } from '../../errors/problem-table.js';
import { refTo } from '../../representation/schemas.js';

type PathItem = OpenAPIObject['paths'][string];
type Responses = NonNullable<PathItem['get']>['responses'];

const header = (description: string, example: string | number) => ({
  description,
  schema: { type: typeof example === 'number' ? 'integer' : 'string', example },
});

/** The gateway's response headers (docs/api.md#headers). */
export const RESPONSE_HEADERS = {
  Age: header('The age of the data, in seconds.', 3),
  'Cache-Control': header('How long the answer may be kept; a cache subtracts `Age` from it.', 'private, max-age=10'),
  'Cache-Status': header('How the cache handled the request (RFC 9211).', 'accounts-gateway; hit; ttl=7'),
  ETag: header('For `If-None-Match`. JSON: covers data, `stale` and `complete`.', 'W/"bcWj5eK93YVZHCfq4huO6BfHDN6"'),
  'Retry-After': header('Seconds to wait before a retry; on every 503, and on a 502 or 504 during a back-off.', 2),
  'Snapshot-As-Of': header(
    'When the bank was asked. After a 304 it overrides the body that the caller holds.',
    '2026-11-21T08:00:00.000Z',
  ),
  'Snapshot-Complete': header(
    "`true` if the list agrees with the bank's own count, `false` if it does not or contains an account twice, `null` without a count.",
    'true',
  ),
  'Snapshot-Expires-At': header(
    'When this data stops being served. It overrides the body that the caller holds.',
    '2026-11-21T08:05:00.000Z',
  ),
  'Snapshot-Stale': header(
    '`true` if the data is older than it should be, because the bank is slow or failing, or comes from an earlier run, else `false`.',
    'false',
  ),
  'X-Request-Id': header(
    'The id that the caller sent, if it is valid, or a new one. Finds the log line.',
    '8ec19755-b535-4e79-b06c-11d12898fbe0',
  ),
};

const FROM_SNAPSHOT = Object.keys(RESPONSE_HEADERS).filter((name) => !['Retry-After', 'X-Request-Id'].includes(name));

/** Adds the parts that no controller describes: problems, 304 and response headers. */
export function addCommonResponses(paths: OpenAPIObject['paths']): void {
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get) continue;
    get.responses = { ...commonOf(path), ...get.responses };
    for (const [status, response] of Object.entries(get.responses)) {
      const names = [...headersOf(path, status), 'X-Request-Id'];
      const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
      Object.assign(response as object, { headers });
    }
  }
}

const isApi = (path: string): boolean => path.startsWith('/api/');

function commonOf(path: string): Responses {
  const statuses = [
    ...(isApi(path) ? [400, 403, 406, 421, 500, 502, 503, 504] : []),
    ...(path.includes('{') ? [404] : []),
  ];
  const content = { 'application/problem+json': { schema: refTo(problemSchema) } };
  return {
    ...(isApi(path) && { 304: { description: 'the caller already has this data; Snapshot-As-Of has its new time' } }),
    ...Object.fromEntries(statuses.map((status) => [status, { description: codesOf(status), content }])),
    '4XX': { description: 'an error of the caller', content },
    '5XX': { description: 'the bank, the network to it, or this service; `owner` is who must act', content },
  };
}

const codesOf = (status: number): string =>
  PROBLEM_CODES.filter((code) => PROBLEMS[code].status === status)
    .map((code) => `\`${code}\``)
    .join(', ');

function headersOf(path: string, status: string): readonly string[] {
  if (['502', '503', '504', '5XX'].includes(status)) return ['Retry-After'];
  if (status !== '200' && status !== '304') return [];
  return isApi(path) ? FROM_SNAPSHOT : ['Cache-Control'];
}
