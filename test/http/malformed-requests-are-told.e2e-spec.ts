import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cleanUp, start } from '../support/sandbox.js';
import { expectDocumented } from '../support/common-conditions.js';
import { closeGateways, startGateway, type Gateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-call.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway(await start());
});
afterAll(async () => {
  await closeGateways();
  await cleanUp();
});

const PATH = '/api/v1/accounts';
const send = async (text: string) => {
  const answer = await rawCall(gateway.port, text);
  if (answer.status !== 204 && answer.text !== '') expectDocumented(answer);
  return answer;
};
const HEADERS = 'Host: localhost\r\nConnection: close\r\n';

describe('requests that are not as they should be', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s is 405 with Allow', async (method) => {
    for (const path of [PATH, `${PATH}/some-id`, '/health', '/problems', '/openapi.json', '/']) {
      const answer = await send(rawRequest(`${method} ${path} HTTP/1.1`));
      expect([path, answer.status]).toEqual([path, 405]);
      expect(answer.json).toMatchObject({ code: 'method-not-allowed', owner: 'caller', instance: path });
      expect(String(answer.headers['allow']).split(/, */)).toEqual(expect.arrayContaining(['GET', 'HEAD']));
    }
  });

  it('POST with a body is 405 as well, whatever its type', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const answer = await send(
        `POST ${PATH} HTTP/1.1\r\n${HEADERS}Content-Type: ${type}\r\nContent-Length: 8\r\n\r\n{"a": 1}`,
      );
      expect(answer.json.code).toBe('method-not-allowed');
    }
  });

  it.each(['TRACE', 'PROPFIND', 'LOCK', 'QUERY'])('%s is not served', async (method) => {
    const { status, json } = await send(rawRequest(`${method} ${PATH} HTTP/1.1`));
    expect([405, 400]).toContain(status);
    expect(['method-not-allowed', 'malformed-request']).toContain(json.code);
  });

  it('CONNECT is not served', async () => {
    const { status, headers } = await rawCall(
      gateway.port,
      'CONNECT bank.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    );
    expect(status).toBe(405);
    expect(headers['allow']).toContain('GET');
  });

  it('an upgrade is not taken: the call is answered as if it had not been asked for', async () => {
    const { status } = await send(
      `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    );
    expect(status).toBe(200);
  });

  it('OPTIONS without an origin tells the methods', async () => {
    const { status, headers } = await send(rawRequest(`OPTIONS ${PATH} HTTP/1.1`));
    expect(status).toBe(204);
    expect(headers['allow']).toContain('GET');
  });

  it.each([
    ['no route', '/nothing', 'not-found', 404],
    ['no route, written with dots', '/api/%2e%2e/nothing', 'not-found', 404],
    ['dots that a router might resolve', '/health/../api/v1/accounts', 'not-found', 404],
    ['a backslash', '/api\\v1\\accounts', 'not-found', 404],
    ['a double slash', '//api/v1/accounts', 'not-found', 404],
    ['a path parameter', `${PATH};x=1`, 'not-found', 404],
    ['a bad percent encoding', '/api/v1/accounts/%zz', 'malformed-request', 400],
    ['bad UTF-8', '/api/v1/accounts/%ff', 'malformed-request', 400],
    ['a long address', `/${'x'.repeat(9000)}`, 'request-too-large', 414],
  ])('%s', async (_name, path, code, status) => {
    const answer = await send(rawRequest(`GET ${path} HTTP/1.1`));
    expect(answer.json).toMatchObject({ code, status, owner: 'caller' });
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  it.each([
    ['noise', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
    ['no HTTP version', `GET ${PATH}\r\n\r\n`],
    ['an unknown method', `FETCH ${PATH} HTTP/1.1\r\n${HEADERS}\r\n`],
    ['a folded header', `GET ${PATH} HTTP/1.1\r\n${HEADERS}X-A: b\r\n c\r\n\r\n`],
    [
      'length and chunks',
      `POST ${PATH} HTTP/1.1\r\n${HEADERS}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['two lengths', `GET ${PATH} HTTP/1.1\r\n${HEADERS}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    ['a length that is none', `GET ${PATH} HTTP/1.1\r\n${HEADERS}Content-Length: abc\r\n\r\n`],
    ['a space before the colon', `GET ${PATH} HTTP/1.1\r\n${HEADERS}X-A : b\r\n\r\n`],
    ['a bare CR in a header', `GET ${PATH} HTTP/1.1\r\n${HEADERS}X-A: b\rc\r\n\r\n`],
    ['a NUL in a header', `GET ${PATH} HTTP/1.1\r\n${HEADERS}X-A: b\0c\r\n\r\n`],
    ['an address with a space', `GET /api /v1 HTTP/1.1\r\n${HEADERS}\r\n`],
  ])('%s is a problem document, malformed-request', async (_name, text) => {
    const answer = await send(text);
    expect(answer.json).toMatchObject({ code: 'malformed-request', status: 400, owner: 'caller' });
    expect(answer.headers['connection']).toBe('close');
  });

  it('a header of 64 KB is 431', async () => {
    const answer = await send(rawRequest(`GET ${PATH} HTTP/1.1`, [`X-Large: ${'x'.repeat(65_536)}`]));
    expect(answer.json).toMatchObject({ code: 'request-too-large', status: 431, owner: 'caller' });
  });

  it('an Accept that excludes JSON is 406, and its twins are not', async () => {
    for (const accept of ['application/xml', 'application/json;q=0', 'image/*']) {
      const answer = await send(rawRequest(`GET ${PATH} HTTP/1.1`, [`Accept: ${accept}`]));
      expect(answer.json).toMatchObject({ code: 'not-acceptable', status: 406, owner: 'caller' });
    }
    for (const accept of ['*/*', 'application/*', 'text/html, */*;q=0.1', 'application/json', 'Application/JSON']) {
      expect((await send(rawRequest(`GET ${PATH} HTTP/1.1`, [`Accept: ${accept}`]))).status).toBe(200);
    }
  });

  it('a header that comes too slowly is 408, and others are served meanwhile', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const started = performance.now();
    const socket = connect(gateway.port, '127.0.0.1', () =>
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n`),
    );
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 500);
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
    expect((await gateway.get(PATH)).status).toBe(200);
    try {
      expect(await promise).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request-timeout"/);
    } finally {
      clearInterval(drip);
      socket.destroy();
    }
    expect(performance.now() - started).toBeLessThan(15_000);
  }, 20_000);
});
