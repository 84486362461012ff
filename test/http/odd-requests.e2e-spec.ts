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
const host = (value: string) => `GET ${PATH} HTTP/1.1\r\nHost: ${value}\r\n\r\n`;
const KB = 1024;

type Case = [name: string, bytes: string, status: number, code?: string];

// which names are ours is in src/http/guard.spec.ts
const HOSTS: Case[] = [
  ['no Host', `GET ${PATH} HTTP/1.1\r\n\r\n`, 400, 'malformed-request'],
  ['two Hosts', `GET ${PATH} HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400, 'malformed-request'],
  ['two Hosts, one foreign', `GET ${PATH} HTTP/1.1\r\n${HOST}hOsT: evil.example\r\n\r\n`, 400, 'malformed-request'],
  ['two Hosts at the live probe', `GET /health/live HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400, 'malformed-request'],
  ['a Host beyond bytes', host('löcalhost'), 421, 'host-not-allowed'],
];

const FORMS: Case[] = [
  ['absolute-form, ours', get(`http://localhost${PATH}`), 400, 'malformed-request'],
  ['absolute-form, foreign', get(`http://evil.example${PATH}`), 400, 'malformed-request'],
  ['authority-form', get('localhost:80'), 400, 'malformed-request'],
  ['no slash', get('api/v1/accounts'), 400, 'malformed-request'],
  ['two slashes', get(`//localhost${PATH}`), 404, 'not-found'],
  ['asterisk-form', get('*'), 400, 'malformed-request'],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, 204],
  ['OPTIONS of a route', `OPTIONS ${PATH} HTTP/1.1\r\n${HOST}\r\n`, 204],
  ['TRACE', `TRACE ${PATH} HTTP/1.1\r\n${HOST}\r\n`, 405, 'method-not-allowed'],
  ['a foreign Host comes before the method', `PURGE ${PATH} HTTP/1.1\r\nHost: evil\r\n\r\n`, 421, 'host-not-allowed'],
  ['CONNECT', 'CONNECT bank.example:443 HTTP/1.1\r\nHost: bank.example:443\r\n\r\n', 405, 'method-not-allowed'],
  ['a method in small letters', `get ${PATH} HTTP/1.1\r\n${HOST}\r\n`, 400, 'malformed-request'],
  ['a method nobody knows', `FETCH ${PATH} HTTP/1.1\r\n${HOST}\r\n`, 400, 'malformed-request'],
  ['an upgrade is not taken', get(PATH, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'), 200],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed-request'],
  ['HTTP/2.0 on the line', `GET ${PATH} HTTP/2.0\r\n${HOST}\r\n`, 400, 'malformed-request'],
  ['HTTP/0.9', `GET ${PATH}\r\n\r\n`, 400, 'malformed-request'],
  ['HTTP/1.0 without Host', `GET ${PATH} HTTP/1.0\r\n\r\n`, 400, 'malformed-request'],
  ['HTTP/1.0 with Host', `GET ${PATH} HTTP/1.0\r\n${HOST}\r\n`, 200],
  ['HTTP/1.0 without Host at the live probe', 'GET /health/live HTTP/1.0\r\n\r\n', 200],
  ['hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, 'malformed-request'],
  ['a proxy header', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${get(PATH)}`, 400, 'malformed-request'],
];

const FRAMING: Case[] = [
  [
    'CL and TE',
    get(PATH, 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n') + '0\r\n\r\n',
    400,
    'malformed-request',
  ],
  ['two lengths', get(PATH, 'Content-Length: 1\r\nContent-Length: 2\r\n'), 400, 'malformed-request'],
  ['chunked in another coat', get(PATH, 'Transfer-Encoding: xchunked\r\n'), 413, 'request-too-large'],
  ['a body on GET, small', `${get(PATH, 'Content-Length: 5\r\n')}hello`, 200],
  ['a body on GET, large', `${get(PATH, 'Content-Length: 2000\r\n')}${'x'.repeat(2000)}`, 413, 'request-too-large'],
  [
    'a body on GET, endless',
    `${get(PATH, 'Content-Length: 999999999999\r\n')}${'x'.repeat(900_000)}`,
    413,
    'request-too-large',
  ],
  ['Expect: 100-continue', get(PATH, 'Content-Length: 5\r\nExpect: 100-continue\r\n'), 200],
  ['Expect: something', get(PATH, 'Expect: wonders\r\n'), 200],
  ['a fold', get(PATH, 'X-A: 1\r\n 2\r\n'), 400, 'malformed-request'],
  ['bare LF', `GET ${PATH} HTTP/1.1\nHost: localhost\n\n`, 400, 'malformed-request'],
  ['bare CR', `GET ${PATH} HTTP/1.1\r\nHost: localhost\rX: 1\r\n\r\n`, 400, 'malformed-request'],
  ['a space before the colon', get(PATH, 'X-A : 1\r\n'), 400, 'malformed-request'],
  ['NUL in a value', get(PATH, 'X-A: a\0b\r\n'), 400, 'malformed-request'],
  ['NUL in the path', get(`${PATH}\0`), 400, 'malformed-request'],
  ['two spaces on the line', `GET  ${PATH}  HTTP/1.1\r\n${HOST}\r\n`, 200],
  ['a header of 64 KB', get(PATH, `X-A: ${'a'.repeat(64 * KB)}\r\n`), 431, 'request-too-large'],
  ['a header of 15 KB', get(PATH, `X-A: ${'a'.repeat(15 * KB)}\r\n`), 200],
  ['10 000 headers', get(PATH, 'a:b\r\n'.repeat(10_000)), 431, 'request-too-large'],
  ['300 headers', get(PATH, 'a:b\r\n'.repeat(300)), 431, 'request-too-large'],
];

const PATHS: Case[] = [
  ['a path of 9 KB', get(`/${'a'.repeat(9 * KB)}`), 414, 'request-too-large'],
  ['a path of 20 KB', get(`/${'a'.repeat(20 * KB)}`), 414, 'request-too-large'],
  ['a query of 9 KB', get(`${PATH}?q=${'a'.repeat(9 * KB)}`), 414, 'request-too-large'],
  ['an id of 300', get(`${PATH}/${'a'.repeat(300)}`), 414, 'request-too-large'],
  ['%00', get(`${PATH}/%00`), 404, 'account-not-found'],
  ['%2e%2e', get(`${PATH}/%2e%2e`), 404, 'account-not-found'],
  ['%2f', get(`${PATH}/a%2fb`), 404, 'account-not-found'],
  ['a back-slash', get(`${PATH}\\..\\x`), 404, 'not-found'],
  ['files of the docs', get('/docs/../../../../etc/passwd'), 404, 'not-found'],
  ['files of the docs, encoded', get('/docs/%2e%2e%2f%2e%2e%2fpackage.json'), 404, 'not-found'],
  ['bad percents', get(`${PATH}/%zz%4`), 400, 'malformed-request'],
  ['bad UTF-8', get(`${PATH}/%ff%fe`), 400, 'malformed-request'],
  ['unknown path', get('/nothing'), 404, 'not-found'],
  ['a fragment', get(`${PATH}#x`), 400, 'invalid-request'],
  ['a path of a probe, extended', `GET /health/live/ HTTP/1.1\r\nHost: evil\r\n\r\n`, 421, 'host-not-allowed'],
  ['a path of a probe, encoded', `GET /health/%6cive HTTP/1.1\r\nHost: evil\r\n\r\n`, 421, 'host-not-allowed'],
  [
    'cross-site, twice',
    get(PATH, 'Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n'),
    403,
    'client-not-allowed',
  ],
  ['cross-site, path encoded', get('/%61pi/v1/accounts', 'Sec-Fetch-Site: cross-site\r\n'), 403, 'client-not-allowed'],
  ['a probe takes no parameters, and parses none', get(`/health/live?${'a&'.repeat(3000)}`), 200],
  ['the negative case, elsewhere', get(`${PATH}?${'a&'.repeat(3000)}`), 400, 'invalid-request'],
];

describe.each([
  ['Host', HOSTS],
  ['forms', FORMS],
  ['framing', FRAMING],
  ['paths', PATHS],
])('odd requests: %s', (_group, cases) => {
  it.each(cases.map(([name, ...rest]) => ({ name, rest })))('$name', async ({ rest: [bytes, status, code] }) => {
    const heard = await sendRaw(gateway.port, bytes);
    const [answer] = heard.answers;
    expect({ answers: heard.answers.length, end: heard.end, rest: heard.rest.toString() }).toMatchObject({
      answers: 1,
      rest: '',
    });
    if (!answer) throw new Error('no answer');
    expect(faultOf(answer)).toBeNull();
    expect([answer.status, status < 400 ? undefined : codeOf(answer)]).toEqual([status, code]);
  });
});

describe('other methods', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s is 405 with Allow', async (method) => {
    for (const path of [PATH, `${PATH}/some-id`, '/health', '/problems', '/openapi.json', '/']) {
      const { answers } = await sendRaw(gateway.port, `${method} ${path} HTTP/1.1\r\n${HOST}\r\n`);
      expect(answers.map((answer) => [path, answer.status, codeOf(answer), answer.headers['allow']])).toEqual([
        [path, 405, 'method-not-allowed', 'GET, HEAD, OPTIONS'],
      ]);
    }
  });
});

describe('odd connections', () => {
  it('nothing an attacker has sent is left on Object', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('8 requests in one go are answered in order', async () => {
    const requests = Array.from({ length: 8 }, (_, index) => get(PATH, `X-Request-Id: r-${index}\r\n`));
    const { answers } = await sendRaw(gateway.port, requests.join(''), { enough: 8 });
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(requests.map((_, index) => `r-${index}`));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });

  it('noise behind a request is answered after it, never within its answer', async () => {
    const { answers, end } = await sendRaw(gateway.port, `${get('/health')}\x01\x02\r\n\r\n`, { enough: 3 });
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(answers.map((answer) => faultOf(answer))).toEqual([null, null]);
    expect(end).toBe('closed');
  });

  it.each(['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', '\x01\x02\r\n\r\n'])(
    'behind a request that is the last by its own word, %j is left unanswered, and resets do no harm',
    async (last) => {
      const bytes = `${get('/health', 'Connection: close\r\n')}${last}`;
      const { answers } = await sendRaw(gateway.port, bytes, { enough: 2 });
      expect(answers.map(({ status }) => status)).toEqual([200]);
      for (let call = 0; call < 50; call++) {
        const socket = connect({ port: gateway.port, host: '127.0.0.1' });
        socket.on('error', () => undefined);
        socket.write(call % 2 ? bytes : last);
        setTimeout(() => socket.resetAndDestroy(), call % 5);
      }
      await until(async () => (await connectionsOf(gateway)) === 0);
    },
  );

  it('what follows a refused body is not taken for a request of its own answer', async () => {
    const smuggled = get(PATH, 'X-Request-Id: smuggled\r\n');
    const { answers, end } = await sendRaw(
      gateway.port,
      `${get(PATH, `Content-Length: ${smuggled.length}\r\n`)}${smuggled}`,
      { enough: 2, waitMs: 1500 },
    );
    expect(answers).toHaveLength(1);
    expect(end).toBe('open');
  });

  it('a 304 to HEAD says nothing of a length, like one to GET', async () => {
    const tag = String((await gateway.get(PATH)).headers['etag']);
    for (const method of ['HEAD', 'GET']) {
      const bytes = get(PATH, `If-None-Match: ${tag}\r\n`).replace('GET', method);
      const { answers, rest } = await sendRaw(gateway.port, bytes, { head: true });
      expect([answers[0]?.status, answers[0]?.headers['content-length'], rest.length]).toEqual([304, undefined, 0]);
      expect(answers[0]?.headers['etag']).toBe(tag);
    }
  });

  it('a caller who ends their side gets their answer all the same', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = '';
    const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(get(PATH, 'Connection: close\r\n'));
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('end', () => resolve(text));
    expect(await promise).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('nothing a caller sends splits an answer or a log line', () => {
  const nasty = [
    'a\tb',
    'a"b\\',
    '{"level":"fatal"}',
    '\x7f\x80\xff',
    '%0d%0aSet-Cookie: x',
    '\u0085'.repeat(3),
    'x'.repeat(5000),
  ];
  it.each([
    'X-Request-Id',
    'X-Client-Name',
    'Origin',
    'User-Agent',
    'Cache-Control',
    'If-None-Match',
    'Accept',
    'Accept-Encoding',
  ])('%s', async (name) => {
    for (const value of nasty) {
      const from = gateway.lines.length;
      const { answers } = await sendRaw(gateway.port, get(PATH, `${name}: ${value}\r\n`));
      const [answer] = answers;
      if (!answer) throw new Error(`no answer to ${name}: ${value}`);
      expect(faultOf(answer)).toBeNull();
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      await until(() => gateway.lines.length > from);
      for (const line of gateway.lines.slice(from)) {
        const { requestId, origin = '', clientName = '' } = JSON.parse(line) as Record<string, string>;
        expect(line).toMatch(/^[^\n]*\n$/);
        expect(requestId).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
        expect(`${origin}${clientName}`).toMatch(/^[\x20-\x7e]{0,200}$/);
      }
    }
  });

  it('a line for each, what the parser refused and CONNECT included, with its route', async () => {
    const from = gateway.lines.length;
    for (const bytes of [
      get(PATH),
      'noise\r\n\r\n',
      'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
      get(`${PATH}/x`),
      get('/%zz'),
      `PUT ${PATH} HTTP/1.1\r\n${HOST}\r\n`,
    ]) {
      await sendRaw(gateway.port, bytes);
    }
    await until(() => gateway.lines.length >= from + 6);
    const lines = gateway.lines.slice(from).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      lines.map(({ event, method, route, status, code, client }) => [event, method, route, status, code, client]),
    ).toEqual([
      ['request', 'GET', PATH, 200, undefined, '127.0.0.1'],
      ['request', null, null, 400, 'malformed-request', '127.0.0.1'],
      ['request', 'CONNECT', null, 405, 'method-not-allowed', '127.0.0.1'],
      ['request', 'GET', `${PATH}/:accountId`, 404, 'account-not-found', '127.0.0.1'],
      ['request', 'GET', null, 400, 'malformed-request', '127.0.0.1'],
      ['request', 'PUT', PATH, 405, 'method-not-allowed', '127.0.0.1'],
    ]);
  });
});

test('after all this the gateway is healthy, and each log line is one line', async () => {
  expect(gateway.events('request.failed')).toEqual([]);
  expect((await gateway.get('/health/live')).status).toBe(200);
  await until(async () => (await connectionsOf(gateway)) === 0, 3000);
  for (const line of gateway.lines) expect(line).toMatch(/^\{.*\}\n$/);
});
