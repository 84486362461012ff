import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { get } from './callers.mjs';

export const JSON_ONLY = { accept: 'application/json' };

/** A response's text without its time, for comparison with one from another refresh. */
export const withoutAsOf = (text) => text.replaceAll(/"(asOf|expiresAt)":"[^"]*"/g, '"$1":""').trim();

/** Headers that node:http adds by itself; the request id is new for each response. */
const LEFT_TO_THE_RIVAL = new Set(['date', 'connection', 'keep-alive', 'x-request-id']);
const CHANGING_HEADERS = new Set(['date', 'x-request-id']);
const CHANGING_FIELDS = new Set(['time', 'requestId', 'ms']);

/**
 * The real responses of a gateway with a cached list, on a kept connection, and their log lines. By name: `{ request,
 * status, headers, rawHeaders, body, text, line }`, where `request` has the request headers.
 */
export async function takeAnswers(gateway) {
  const agent = new Agent({ keepAlive: true });
  const take = async (name, request) => {
    const requestId = `bench-${name}`;
    const answer = await get(gateway.accountsUrl, { ...request, 'x-request-id': requestId }, { agent });
    return { ...answer, request, line: await gateway.program.lineOf(requestId) };
  };
  // from now on, everything is compressed and cached, and the rest are hits
  for (const encoding of ['identity', 'br', 'gzip'])
    await get(gateway.accountsUrl, { ...JSON_ONLY, 'accept-encoding': encoding });
  const plain = await take('plain', JSON_ONLY);
  const answers = {
    plain,
    // like browsers
    br: await take('br', { ...JSON_ONLY, 'accept-encoding': 'gzip, br' }),
    gzip: await take('gzip', { ...JSON_ONLY, 'accept-encoding': 'gzip' }),
    'not-modified': await take('not-modified', { ...JSON_ONLY, 'if-none-match': plain.headers.etag }),
  };
  agent.destroy();
  const expected = { plain: [200], br: [200, 'br'], gzip: [200, 'gzip'], 'not-modified': [304] };
  for (const [name, [status, encoding]] of Object.entries(expected)) {
    const { status: given, headers, line } = answers[name];
    if (given !== status || headers['content-encoding'] !== encoding)
      throw new Error(`the gateway's ${name} answer is ${given}, ${headers['content-encoding']}`);
    if (line.cache !== 'hit') throw new Error(`the gateway's ${name} answer is no hit: ${JSON.stringify(line)}`);
  }
  return answers;
}

/** Writes the responses in the format of rivals/nest-fastify.mjs, under the paths `/plain`, `/br` and so on. */
export function writeAnswers(file, answers) {
  const ready = Object.entries(answers).map(([name, { status, rawHeaders, body, line }]) => {
    const { level: _level, time: _time, msg: message, ...fields } = line;
    const headers = toPairs(rawHeaders).filter(([header]) => !LEFT_TO_THE_RIVAL.has(header.toLowerCase()));
    return [
      `/${name}`,
      { status, headers, body: body.length > 0 ? body.toString('base64') : null, line: { fields, message } },
    ];
  });
  const [, seconds] = /timeout=(\d+)/.exec(answers.plain.headers['keep-alive'] ?? '') ?? [];
  if (!seconds) throw new Error('the gateway does not say how long it keeps a connection');
  writeFileSync(file, JSON.stringify({ keepAliveMs: seconds * 1000, answers: Object.fromEntries(ready) }));
}

/** @throws unless the rival's responses have the gateway's headers and bytes, and its log lines the gateway's fields */
export async function assertSameAnswers({ name, toUrl, lineOf }, answers) {
  const agent = new Agent({ keepAlive: true });
  for (const [question, ours] of Object.entries(answers)) {
    const theirs = await get(toUrl(question), ours.request, { agent });
    const assertEqual = (what, expected, given) => {
      if (expected !== given) throw new Error(`${name}, ${question}: another ${what}\n${expected}\n${given}`);
    };
    assertEqual('status', ours.status, theirs.status);
    if (!ours.body.equals(theirs.body)) throw new Error(`${name}, ${question}: another body`);
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

/** Names and values in order of the names, as text; for names in `changing`, only the names. */
const without = (changing, pairs) =>
  pairs
    .map(([name, value]) => `${name}: ${changing.has(name) ? '…' : value}`)
    .sort()
    .join('\n');
