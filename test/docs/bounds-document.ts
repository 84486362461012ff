import { brokenReferences, read } from '../support/documents.js';

type Row = readonly [bound: string, beyond: string, test: string];

/**
 * Every limit on external input, by its source, with its test. `{egress/open-tunnel MAX_CONNECT_ANSWER_BYTES KB}` is
 * the number that this name has in src/egress/open-tunnel.ts, in a unit.
 */
const BOUNDS: Readonly<Record<string, readonly Row[]>> = {
  Callers: [
    [
      'URL and header: {http/http-limits MAX_HEADER_BYTES KB}; a part of the path: {http/http-limits MAX_SEGMENT_LENGTH}; body: {http/http-limits MAX_BODY_BYTES KB}',
      '431, 414, 413 `request-too-large`',
      'test/http/odd-requests',
    ],
    [
      'header or TLS handshake: {http/http-limits headersTimeoutMs s}; whole request: {http/http-limits requestTimeoutMs s}',
      '408 `request-timeout`, closed',
      'test/http/many-callers',
    ],
    [
      '{http/http-limits unanswered} unanswered requests on one connection; `MAX_CONNECTIONS` connections',
      'closed',
      'test/http/nest',
    ],
    [
      '{http/http-limits inactiveMs s} (`REQUEST_DEADLINE_MS` and {http/http-limits inactiveAfterDeadlineMs s}, if longer) without a byte in either direction, noticed at most as much later',
      'closed',
      'src/http/create-http.spec.ts',
    ],
    [
      '{http/http-limits bytesUnderWay MB} of response bodies under way',
      '`overloaded`',
      'src/http/create-http.spec.ts',
    ],
    ['`MAX_REQUESTS_WAITING` callers who wait for the bank', '`overloaded`', 'test/http/many-callers'],
    ['`REQUEST_DEADLINE_MS` for a response', 'an error', 'test/freshness/freshness'],
    [
      'downloads (CSV, NDJSON, pages over {list/documents MAX_LENGTH MB}): {accounts/downloads downloads} at once',
      'wait within `REQUEST_DEADLINE_MS`, then `overloaded`',
      'src/accounts/downloads.spec.ts',
    ],
    [
      'one download: {accounts/downloads durationMs s}',
      'cut off, and so is one of a replaced list whose memory the next list needs',
      'src/accounts/downloads.spec.ts',
    ],
    [
      '{snapshot/list-thread MAX_QUERIES} queries at once to one list',
      'wait within `REQUEST_DEADLINE_MS`, then `overloaded`',
      'src/snapshot/list-thread.spec.ts',
    ],
    [
      '{accounts/encoded-responses MAX_COMPRESSING} compressions at once; {accounts/encoded-responses MAX_WAITING_TO_COMPRESS} wait',
      'sent uncompressed',
      'src/accounts/encoded-responses.spec.ts',
    ],
    [
      'long documents that are compressed: {accounts/responder MAX_COMPRESSED_STREAMS} at once',
      'sent uncompressed',
      'src/accounts/responder.spec.ts',
    ],
    [
      'encoded responses of one snapshot: {accounts/encoded-responses MAX_BYTES MB}',
      'the oldest are dropped',
      'src/accounts/encoded-responses.spec.ts',
    ],
    [
      '{representation/read-query MAX_PARAMETERS} query parameters; `q`, `iban` 100 characters, `ownerId` 200',
      'ignored; 400',
      'src/accounts/list-query.spec.ts',
    ],
    [
      '{operations/metrics/callers MAX_NAMES} values of `client_name`, in metrics and in the counts of the last minute',
      '`other`',
      'src/operations/metrics/recent.spec.ts',
    ],
  ],
  'The bank': [
    ['a response: `BANK_MAX_RESPONSE_BYTES` after decompression', '`bank-response-invalid`', 'test/egress/answers'],
    [
      'responses of status 1xx before one: {egress/wire-client MAX_INTERIM_RESPONSES}',
      '`bank-response-invalid`',
      'test/egress/answers',
    ],
    [
      'the response of the token endpoint: {auth/request-token MAX_ANSWER_BYTES KB}; a token: {auth/request-token MAX_TOKEN_LENGTH} characters',
      '`bank-response-invalid`',
      'src/auth/request-token.spec.ts',
    ],
    [
      'texts {list/bank-account MAX_TEXT}, ids {list/bank-account MAX_ID}, currencies {list/bank-account MAX_CURRENCY} characters (UTF-16 units: an emoji is 2); numbers {list/bank-account MAX_DIGITS} digits',
      '`bank-response-invalid`, with the path',
      'src/list/bank-account.spec.ts',
    ],
    [
      'balances, identifiers and IBANs of an account: {list/bank-account MAX_ENTRIES} each',
      '`bank-response-invalid`, with the path',
      'src/list/bank-account.spec.ts',
    ],
    [
      '{bank/account-reader MAX_PAGES} pages, {bank/account-reader MAX_BYTES MB} of pages in one refresh',
      '`bank-response-invalid`',
      'src/bank/account-reader.spec.ts',
    ],
    [
      '{bank/account-reader MAX_BYTES_AHEAD MB} of pages requested ahead',
      'requested later',
      'src/bank/account-reader.spec.ts',
    ],
    [
      '{list/account-list MAX_ACCOUNTS} accounts, {list/account-list MAX_CURRENCIES} distinct currencies',
      '`bank-response-invalid`',
      'src/list/account-list.spec.ts',
    ],
    [
      "heap of a list: half of the container's memory less {snapshot/list-thread RESERVED_MB} MB, at most {snapshot/list-thread MAX_HEAP_MB MB of}; replaced lists that only feed downloads end when the next one needs room",
      '`overloaded`',
      'src/snapshot/list-thread.spec.ts',
    ],
    ['nesting: any depth', 'no stack overflow', 'src/list/bank-page.spec.ts'],
    [
      '{list/search-texts SEARCHED_LENGTH} characters of each text are searched, {list/search-texts SEARCHED_NUMBERS_LENGTH} of the numbers of an account',
      'not found',
      'src/list/account-list.spec.ts',
    ],
    [
      'folded texts of one list: {list/search-texts MAX_KEPT_LENGTH} characters, in a small heap a character for 32 bytes of it',
      'folded for each search',
      'src/list/account-list.spec.ts',
    ],
    ['{list/sort COLLATED_LENGTH} characters of a name are collated', 'by code units', 'src/list/account-list.spec.ts'],
    [
      '`BANK_MAX_CONCURRENT_REQUESTS` calls in flight; one refresh, one token request',
      'they wait',
      'test/egress/connections',
    ],
    [
      '`BANK_CONNECT_TIMEOUT_MS`, `BANK_REQUEST_TIMEOUT_MS` for a call',
      '`bank-timeout`, `bank-unreachable` or `proxy-unavailable`',
      'test/egress/answers',
    ],
    ['`SNAPSHOT_READ_TIMEOUT_MS` for a refresh', '`bank-timeout`', 'test/freshness/freshness'],
    ['retries: [every retry](calling-the-bank.md#retries)', 'the error', 'test/bank-faults/answers'],
    [
      'life of a token: {auth/request-token MAX_LIFETIME_SECONDS} s; `Retry-After`: {time/back-off RETRY_AFTER_MAX_MS s}',
      '{auth/request-token DEFAULT_LIFETIME_SECONDS} s; {time/back-off RETRY_AFTER_MAX_MS s}',
      'src/time/back-off.spec.ts',
    ],
    ['drift: {bank/bank-drift MAX_SHOWN} entries', 'counted', 'src/bank/bank-drift.spec.ts'],
  ],
  Files: [
    [
      '`.env`, secret, certificate and CA files: {files/small-file MAX_BYTES MB}, regular files',
      'an error with the setting',
      'src/files/small-file.spec.ts',
    ],
    [
      'client certificate: {files/passcode-based-encryption MAX_ROUNDS} rounds of a key derivation',
      'rejected',
      'src/auth/client-certificate.spec.ts',
    ],
    [
      '`SNAPSHOT_FILE`: {sharing/stored-source MAX_STORED_BYTES MB}, a regular file, `SNAPSHOT_MAX_AGE_MS`',
      'ignored (`sharing.refused`)',
      'test/fleet/snapshot-file-outlives-a-restart',
    ],
    [
      'recordings that are compared: {recording/compare-forms MAX_PLACES} places, paths of {recording/compare-forms MAX_PATH_LENGTH} characters',
      'not compared',
      'src/recording/compare-forms.spec.ts',
    ],
  ],
  'Other parties': [
    [
      'egress proxy: response to CONNECT {egress/open-tunnel MAX_CONNECT_ANSWER_BYTES KB}',
      '`proxy-refused`',
      'test/egress/proxy',
    ],
    [
      'Redis: a copy of {sharing/stored-source MAX_STORED_BYTES MB}, `SNAPSHOT_MAX_AGE_MS`',
      'not shared; ignored (`sharing.refused`)',
      'test/fleet/stored-copy',
    ],
    [
      'Redis: {sharing/redis-connection USUAL_WAIT_MS} ms per request, and {sharing/redis-store MS_PER_MB} ms per MB',
      'works alone',
      'test/fleet/redis-away-costs-callers-nothing',
    ],
    [
      "Redis: the wait for another instance's refresh, the longer of {sharing/redis-source PATIENCE_MS s} and twice the last one, within a third of `SNAPSHOT_READ_TIMEOUT_MS`; {sharing/redis-source MAX_VAIN_WAITS} waits in vain",
      'refreshes on its own',
      'src/sharing/redis-source.spec.ts',
    ],
    ['Redis: its clock within a day of ours', 'works alone', 'src/sharing/redis-source.spec.ts'],
    [
      'log reader: {telemetry/standard-output MAX_WAITING_BYTES MB} of lines that wait',
      'dropped and counted',
      'src/telemetry/standard-output.spec.ts',
    ],
    [
      'trace collector: 2048 spans that wait, {telemetry/tracing FLUSH_MS s} at the stop',
      'dropped',
      'test/telemetry/traces',
    ],
  ],
};

/** The bounds of docs/bounds.md, by their source. @throws Error for a bound whose test does not exist */
export function boundsLists(): string {
  return Object.entries(BOUNDS)
    .map(([source, rows]) => {
      const lines = rows.map(([bound, beyond, test]) => {
        const [missing] = brokenReferences('', test);
        if (missing !== undefined) throw new Error(`${bound}: there is no ${missing}`);
        return `- ${fill(bound)} (${fill(beyond)})\n`;
      });
      return `## ${source}\n\n${lines.join('')}`;
    })
    .join('\n');
}

const DIVISORS: Readonly<Record<string, number>> = { 'MB of': 1, KB: 1024, s: 1000 };

const fill = (text: string): string =>
  text.replaceAll(/\{(\S+) (\w+)(?: ([\w ]+))?\}/g, (_all, path: string, name: string, unit?: string) => {
    const value = constantIn(`src/${path}.ts`, name);
    if (unit === 'MB') return `${value % 1_048_576 === 0 ? value / 1_048_576 : value / 1e6} MB`;
    return unit === undefined ? grouped(value) : `${value / (DIVISORS[unit] ?? 1)} ${unit.replace(' of', '')}`;
  });

/** 200 000, with spaces that do not break. */
const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ' ');

/** The number that a constant or property has in a source file. @throws Error without such a line */
function constantIn(path: string, name: string): number {
  const [, factors] = new RegExp(`\\b${name}(?: =|:) ([\\d_]+(?: \\* [\\d_]+)*)[,;]`).exec(
    read(path).replaceAll(' * MB', ' * 1_048_576'),
  ) ?? [null];
  if (factors === undefined || factors === null) throw new Error(`${path} has no number named ${name}`);
  return factors.split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}
