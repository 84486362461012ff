import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { get } from './callers.mjs';

export const JSON_ONLY = { accept: 'application/json' };

/** A response body without its time, to compare responses of different refreshes. */
export const withoutAsOf = (text) => text.replaceAll(/"(asOf|expiresAt)":"[^"]*"/g, '"$1":""').trim();

/** Headers that node:http adds, and the request id, which differs in each response. */
const LEFT_TO_THE_RIVAL = new Set(['date', 'connection', 'keep-alive', 'x-request-id']);
const CHANGING_HEADERS = new Set(['date', 'x-request-id']);
const CHANGING_FIELDS = new Set(['time', 'requestId', 'ms']);

/**
 * Collects the real responses of a gateway with a cached list, over a kept connection, with their log lines. Returns by
 * variant: `{ request, status, headers, rawHeaders, body, text, line }`, where `request` has the request headers.
 */
export async function takeResponses(gateway) {
  const agent = new Agent({ keepAlive: true });
  const take = async (name, request) => {
    const requestId = `bench-${name}`;
    const response = await get(gateway.accountsUrl, { ...request, 'x-request-id': requestId }, { agent });
    return { ...response, request, line: await gateway.program.lineOf(requestId) };
  };
  // compresses and caches everything, so that the requests below are hits
  for (const encoding of ['identity', 'br', 'gzip'])
    await get(gateway.accountsUrl, { ...JSON_ONLY, 'accept-encoding': encoding });
  const plain = await take('plain', JSON_ONLY);
  const responses = {
    plain,
    // what browsers send
    br: await take('br', { ...JSON_ONLY, 'accept-encoding': 'gzip, br' }),
    gzip: await take('gzip', { ...JSON_ONLY, 'accept-encoding': 'gzip' }),
    'not-modified': await take('not-modified', { ...JSON_ONLY, 'if-none-match': plain.headers.etag }),
  };
  agent.destroy();
  const expected = { plain: [200], br: [200, 'br'], gzip: [200, 'gzip'], 'not-modified': [304] };
  for (const [name, [status, encoding]] of Object.entries(expected)) {
    const { status: given, headers, line } = responses[name];
    if (given !== status || headers['content-encoding'] !== encoding)
      throw new Error(`the gateway's ${name} response is ${given}, ${headers['content-encoding']}`);
    if (line.cache !== 'hit') throw new Error(`the gateway's ${name} response is not a hit: ${JSON.stringify(line)}`);
  }
  return responses;
}

/** Writes the responses in the format of rivals/nest-fastify.mjs, under the paths `/plain`, `/br` and so on. */
export function writeResponses(file, responses) {
  const ready = Object.entries(responses).map(([name, { status, rawHeaders, body, line }]) => {
    const { level: _level, time: _time, msg: message, ...fields } = line;
    const headers = toPairs(rawHeaders).filter(([header]) => !LEFT_TO_THE_RIVAL.has(header.toLowerCase()));
    return [
      `/${name}`,
      { status, headers, body: body.length > 0 ? body.toString('base64') : null, line: { fields, message } },
    ];
  });
  const [, seconds] = /timeout=(\d+)/.exec(responses.plain.headers['keep-alive'] ?? '') ?? [];
  if (!seconds) throw new Error('the gateway does not send Keep-Alive: timeout');
  writeFileSync(file, JSON.stringify({ keepAliveMs: seconds * 1000, responses: Object.fromEntries(ready) }));
}

/**
 * Fails unless the responses of the rival have the headers and bytes of the gateway, and its log lines the same fields.
 */
export async function assertSameResponses({ name, toUrl, lineOf }, responses) {
  const agent = new Agent({ keepAlive: true });
  for (const [variant, ours] of Object.entries(responses)) {
    const theirs = await get(toUrl(variant), ours.request, { agent });
    const assertEqual = (what, expected, given) => {
      if (expected !== given) throw new Error(`${name}, ${variant}: different ${what}\n${expected}\n${given}`);
    };
    assertEqual('status', ours.status, theirs.status);
    if (!ours.body.equals(theirs.body)) throw new Error(`${name}, ${variant}: different body`);
    const show = ({ rawHeaders }) =>
      without(
        CHANGING_HEADERS,
        toPairs(rawHeaders).map(([header, value]) => [header.toLowerCase(), value]),
      );
    assertEqual('head', show(ours), show(theirs));
    if (!lineOf) continue;
    const line = await lineOf(theirs.headers['x-request-id']);
    assertEqual(
      'line',
      without(CHANGING_FIELDS, Object.entries(ours.line)),
      without(CHANGING_FIELDS, Object.entries(line)),
    );
  }
  agent.destroy();
}

const toPairs = (raw) => raw.flatMap((header, index) => (index % 2 === 0 ? [[header, raw[index + 1]]] : []));

/** Name and value pairs sorted by name, one a line; values of the names in `changing` are hidden. */
const without = (changing, pairs) =>
  pairs
    .map(([name, value]) => `${name}: ${changing.has(name) ? '…' : value}`)
    .sort()
    .join('\n');
