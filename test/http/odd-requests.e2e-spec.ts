import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it, test } from '@jest/globals';
import { connectionsOf, faultOf } from '../support/common-conditions.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { codeOf, sendRaw } from '../support/raw-connection.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

let gateway: Gateway;
beforeAll(async () => {
  const bank = await startPretendBank();
  bank.onAccounts = listSample();
  gateway = await startGateway(bank, {
    CORS_ORIGINS: 'https://app.example',
    SNAPSHOT_FRESH_MS: '600000',
    SNAPSHOT_MAX_AGE_MS: '600000',
  });
  await gateway.get('/api/v1/accounts');
});

const PATH = '/api/v1/accounts';
const HOST = 'Host: localhost\r\n';
const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const KB = 1024;

type Case = [name: string, bytes: string, status: number, code?: string];

// src/http/guard.spec.ts tests which names are allowed
const CASES: Case[] = [
  ['no Host', `GET ${PATH} HTTP/1.1\r\n\r\n`, 400, 'malformed-request'],
  ['two Hosts', `GET ${PATH} HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400, 'malformed-request'],
  ['two Hosts, in another case', `GET ${PATH} HTTP/1.1\r\n${HOST}hOST: localhost\r\n\r\n`, 400, 'malformed-request'],
  ['two Hosts at the live probe', `GET /health/live HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400, 'malformed-request'],
  ['absolute-form, ours', get(`http://localhost${PATH}`), 400, 'malformed-request'],
  ['asterisk-form', get('*'), 400, 'malformed-request'],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, 204],
  ['TRACE', `TRACE ${PATH} HTTP/1.1\r\n${HOST}\r\n`, 405, 'method-not-allowed'],
  ['a foreign Host comes before the method', `PURGE ${PATH} HTTP/1.1\r\nHost: evil\r\n\r\n`, 421, 'host-not-allowed'],
  ['CONNECT', 'CONNECT bank.example:443 HTTP/1.1\r\nHost: bank.example:443\r\n\r\n', 405, 'method-not-allowed'],
  ['an unknown method', `FETCH ${PATH} HTTP/1.1\r\n${HOST}\r\n`, 400, 'malformed-request'],
  ['HTTP/2.0 on the line', `GET ${PATH} HTTP/2.0\r\n${HOST}\r\n`, 400, 'malformed-request'],
  ['an upgrade is not taken', get(PATH, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'), 200],
  ['HTTP/1.0 without Host', `GET ${PATH} HTTP/1.0\r\n\r\n`, 400, 'malformed-request'],
  ['HTTP/1.0 without Host at the live probe', 'GET /health/live HTTP/1.0\r\n\r\n', 200],
  ['hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, 'malformed-request'],
  [
    'CL and TE',
    get(PATH, 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n') + '0\r\n\r\n',
    400,
    'malformed-request',
  ],
  ['an empty chunked body', `${get(PATH, CHUNKED)}0\r\n\r\n`, 200],
  ['a chunked body on a probe', `${get('/health/live', CHUNKED)}5\r\nhello\r\n0\r\n\r\n`, 200],
  ['a chunked body at a malformed URL', `${get('/%zz', CHUNKED)}0\r\n\r\n`, 400, 'malformed-request'],
  ['a chunked body that waits for 100', get(PATH, `${CHUNKED}Expect: 100-continue\r\n`), 200],
  ['an empty chunked body on OPTIONS', `${get(PATH, CHUNKED).replace('GET', 'OPTIONS')}0\r\n\r\n`, 204],
  ['a chunked body on POST', get(PATH, CHUNKED).replace('GET', 'POST'), 413, 'request-too-large'],
  ['chunked in another coat', get(PATH, 'Transfer-Encoding: xchunked\r\n'), 413, 'request-too-large'],
  ['a body on GET, small', `${get(PATH, 'Content-Length: 5\r\n')}hello`, 200],
  ['a body on GET, large', `${get(PATH, 'Content-Length: 2000\r\n')}${'x'.repeat(2000)}`, 413, 'request-too-large'],
  [
    'another method at an unknown path, and a body that never comes',
    `POST /nothing HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nContent-Length: 5\r\n\r\n`,
    405,
    'method-not-allowed',
  ],
  ['Expect: 100-continue', get(PATH, 'Content-Length: 5\r\nExpect: 100-continue\r\n'), 200],
  ['NUL in a value', get(PATH, 'X-A: a\0b\r\n'), 400, 'malformed-request'],
  ['a header of 64 KB', get(PATH, `X-A: ${'a'.repeat(64 * KB)}\r\n`), 431, 'request-too-large'],
  ['300 headers', get(PATH, 'a:b\r\n'.repeat(300)), 200],
  ['a second Host behind 3000 headers', get(PATH, `${'a:b\r\n'.repeat(3000)}${HOST}`), 400, 'malformed-request'],
  ['a path of 20 KB', get(`/${'a'.repeat(20 * KB)}`), 431, 'request-too-large'],
  ['a query of 9 KB', get(`${PATH}?q=${'a'.repeat(9 * KB)}`), 400, 'invalid-request'],
  ['an id of 1800', get(`${PATH}/${'a'.repeat(1800)}`), 404, 'account-not-found'],
  ['an id of 1801', get(`${PATH}/${'a'.repeat(1801)}`), 414, 'request-too-large'],
  ['%2e%2e', get(`${PATH}/%2e%2e`), 404, 'account-not-found'],
  ['files of the docs, encoded', get('/docs/%2e%2e%2f%2e%2e%2fpackage.json'), 404, 'not-found'],
  ['bad percents', get(`${PATH}/%zz%4`), 400, 'malformed-request'],
  ['the path of a probe, encoded', `GET /health/%6cive HTTP/1.1\r\nHost: evil\r\n\r\n`, 200],
  ['nearly the path of a probe', `GET /health/live/ HTTP/1.1\r\nHost: evil\r\n\r\n`, 421, 'host-not-allowed'],
  [
    'a call of another site, encoded',
    get('/%61pi/v1/accounts', 'Sec-Fetch-Site: cross-site\r\n'),
    403,
    'client-not-allowed',
  ],
  [
    'cross-site, twice',
    get(PATH, 'Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n'),
    403,
    'client-not-allowed',
  ],
  ['a probe takes no parameters, and parses none', get(`/health/live?${'a&'.repeat(3000)}`), 200],
  ['the negative case, elsewhere', get(`${PATH}?${'a&'.repeat(3000)}`), 400, 'invalid-request'],
];

it.each(CASES)('an odd request gets one documented response: %s', async (_name, bytes, ...expected) => {
  const { answers, rest } = await sendRaw(gateway.port, bytes);
  expect([answers.length, rest.toString()]).toEqual([1, '']);
  for (const answer of answers) {
    expect(faultOf(answer)).toBeNull();
    expect(answer.status < 400 ? [answer.status] : [answer.status, codeOf(answer)]).toEqual(expected);
  }
});

it.each([
  ['curl sends é as typed', Buffer.from('é')],
  ['a space', Buffer.from(' ')],
])('a URL that is not percent-encoded gets a 400 that says what to encode: %s', async (_name, typed) => {
  const [before = '', after = ''] = get(`${PATH}?q=caf#x`).split('#');
  const bytes = Buffer.concat([Buffer.from(before), typed, Buffer.from(after)]);
  const { answers } = await sendRaw(gateway.port, bytes);
  expect(answers.map(({ status, json }) => [status, json.detail])).toEqual([
    [400, 'The request is not valid HTTP. In its URL, percent-encode spaces and characters outside ASCII.'],
  ]);
});

it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('a request with %s gets 405 with Allow', async (method) => {
  for (const path of [PATH, `${PATH}/some-id`, '/health', '/problems', '/openapi.json', '/']) {
    const { answers } = await sendRaw(gateway.port, `${method} ${path} HTTP/1.1\r\n${HOST}\r\n`);
    expect(answers.map((answer) => [path, answer.status, codeOf(answer), answer.headers['allow']])).toEqual([
      [path, 405, 'method-not-allowed', 'GET, HEAD, OPTIONS'],
    ]);
  }
});

describe('odd connections', () => {
  it('8 pipelined requests get their responses in order', async () => {
    const requests = Array.from({ length: 8 }, (_, index) => get(PATH, `X-Request-Id: r-${index}\r\n`));
    const { answers } = await sendRaw(gateway.port, requests.join(''), { enough: 8 });
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(requests.map((_, index) => `r-${index}`));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });

  it('the negative case: a connection with 9 is closed', async () => {
    const { end } = await sendRaw(gateway.port, get(PATH).repeat(9), { enough: 9 });
    expect(end).not.toBe('open');
  });

  it('noise after a request closes the connection, and never becomes part of the response', async () => {
    const { answers, rest, end } = await sendRaw(gateway.port, `${get('/health')}\x01\x02\r\n\r\n`, { enough: 3 });
    expect(answers.length).toBeLessThanOrEqual(2);
    expect([rest.length, end === 'open']).toEqual([0, false]);
    expect(answers.map((answer) => faultOf(answer)).filter(Boolean)).toEqual([]);
  });

  it('bytes after a rejected body are not treated as another request', async () => {
    const smuggled = get(PATH, 'X-Request-Id: smuggled\r\n');
    const { answers, end } = await sendRaw(
      gateway.port,
      `${get(PATH, `Content-Length: ${smuggled.length}\r\n`)}${smuggled}`,
      { enough: 2, waitMs: 1500 },
    );
    expect(answers).toHaveLength(1);
    expect(end).toBe('open');
  });

  it('a chunked body in HTTP/1.0 ends the connection', async () => {
    const chunked = `GET ${PATH} HTTP/1.0\r\n${HOST}Connection: keep-alive\r\n${CHUNKED}\r\n`;
    const { answers, end } = await sendRaw(gateway.port, `${chunked}0\r\n\r\n${get(PATH)}`, { enough: 2 });
    expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[413, 'close']]);
    expect(end).toBe('closed');
  });

  it('a chunked body in HTTP/1.1 is not taken for the next request, which is answered', async () => {
    const inside = get('/inside');
    const body = `${inside.length.toString(16)}\r\n${inside}\r\n0\r\n\r\n`;
    const { answers } = await sendRaw(gateway.port, `${get(PATH, CHUNKED)}${body}${get('/after')}`, { enough: 2 });
    expect(answers.map(({ status, json }) => [status, json.instance])).toEqual([
      [200, undefined],
      [404, '/after'],
    ]);
  });

  it('a chunked body of more than 1 KB ends the connection', async () => {
    const piece = `200\r\n${'x'.repeat(512)}\r\n`;
    const bodies = [2, 3].map((pieces) => `${piece.repeat(pieces)}0\r\n\r\n`);
    const [small, large] = await Promise.all(
      bodies.map((body) => sendRaw(gateway.port, `${get(PATH, CHUNKED)}${body}${get('/after')}`, { enough: 2 })),
    );
    expect(small?.answers.map(({ status }) => status)).toEqual([200, 404]);
    expect(large?.answers.length).toBeLessThan(2);
    expect(large?.end).toBe('closed');
  });
});

describe('the log', () => {
  it.each(['X-Request-Id', 'X-Client-Name', 'Origin'])('%s cannot split a log line or a response', async (name) => {
    for (const value of ['a"b\\', '{"level":"fatal"}', '\x7f\x80\xff', '%0d%0aSet-Cookie: x', 'x'.repeat(5000)]) {
      const from = gateway.lines.length;
      const { answers } = await sendRaw(gateway.port, get(PATH, `${name}: ${value}\r\n`));
      expect(answers.map((answer) => [faultOf(answer), answer.headers['set-cookie']])).toEqual([[null, undefined]]);
      await until(() => gateway.lines.length > from);
      for (const line of gateway.lines.slice(from)) {
        const { requestId, origin = '', clientName = '' } = JSON.parse(line) as Record<string, string>;
        expect(requestId).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
        expect(`${origin}${clientName}`).toMatch(/^[\x20-\x7e]{0,200}$/);
      }
    }
  });
});

test('a caller that resets its connection is not taken for one from a forbidden address', async () => {
  const from = gateway.lines.length;
  for (let index = 0; index < 20; index++) {
    const socket = connect({ port: gateway.port, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.write(get(PATH));
    // before the gateway, in this process, has accepted the connection
    socket.resetAndDestroy();
  }
  await gateway.get('/health/live');
  await until(async () => (await connectionsOf(gateway)) === 0);
  const lines = gateway.lines.slice(from).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.filter(({ code }) => code !== undefined)).toEqual([]);
});

test('odd requests leave the gateway healthy, and each log entry on one line', async () => {
  expect(gateway.events('request.failed')).toEqual([]);
  expect((await gateway.get('/health/live')).status).toBe(200);
  await until(async () => (await connectionsOf(gateway)) === 0);
  for (const line of gateway.lines) expect(line).toMatch(/^\{.*\}\n$/);
});
