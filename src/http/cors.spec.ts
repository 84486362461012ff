import { describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { toGatewayError } from '../errors/gateway-error.js';
import { createAdmission } from './admission.js';
import { createOriginCheck, isByOwnPage, isOwnOrigin, siteOf } from './cors.js';

const TREASURY = 'https://treasury.example';
const ORIGINS = [TREASURY, 'https://other.example'];

const OTHERS = [
  'https://evil.example',
  'null',
  'https://treasury.example.evil.example',
  'https://TREASURY.example',
  'https://treasury.example/',
  'https://treasury.example:8443',
  'http://treasury.example',
  `${TREASURY}, https://other.example`,
];

/** The response of a server that has only the admission hook. */
async function ask(method: 'GET' | 'OPTIONS', headers: Record<string, string>, origins: readonly string[] = ORIGINS) {
  const app = fastify();
  app.setErrorHandler((error, _request, reply) =>
    reply.code(toGatewayError(error).status).send(toGatewayError(error).code),
  );
  const settings = { CORS_ORIGINS: origins, ALLOWED_HOSTS: ['localhost'], ALLOWED_CLIENTS: ['any'] };
  app.addHook('onRequest', createAdmission(settings));
  app.get('/', () => 'read');
  const {
    statusCode,
    headers: all,
    body,
  } = await app.inject({ method, url: '/', headers: { host: 'localhost', ...headers } });
  const added = Object.entries(all).filter(([name]) => name.startsWith('access-control-'));
  return { status: statusCode, body, added: Object.fromEntries(added) };
}

describe('the response to a call', () => {
  it('allows only a listed origin, and exposes our headers', async () => {
    const { status, added } = await ask('GET', { origin: TREASURY });
    const { 'access-control-expose-headers': exposed, ...others } = added;
    expect([status, others]).toEqual([200, { 'access-control-allow-origin': TREASURY }]);
    expect(String(exposed).split(', ').sort()).toEqual([
      'Age',
      'Cache-Status',
      'Content-Disposition',
      'ETag',
      'Retry-After',
      'Snapshot-As-Of',
      'Snapshot-Complete',
      'Snapshot-Expires-At',
      'Snapshot-Stale',
      'X-Request-Id',
    ]);
  });

  it.each([...OTHERS, ''])('does not allow %j', async (origin) => {
    expect(await ask('GET', { origin })).toEqual({ status: 200, body: 'read', added: {} });
  });

  it('allows no origin if none is listed', async () => {
    expect((await ask('GET', { origin: TREASURY }, [])).added).toEqual({});
  });
});

describe('origins of this machine', () => {
  const isLocal = createOriginCheck(['http://localhost:*', 'http://127.0.0.1:*']);

  it.each(['http://localhost:5173', 'http://127.0.0.1:1', 'http://localhost', 'http://127.0.0.1:65535'])(
    'include %s',
    (origin) => expect(isLocal(origin)).toBe(true),
  );

  it.each([
    'https://localhost:5173',
    'http://localhost:5173.evil.example',
    'http://localhost.evil.example:5173',
    'http://localhost:123456',
    'http://localhost:*',
    'http://127.0.0.2:5173',
    'http://[::1]:5173',
    'http://LOCALHOST:5173',
    'null',
    '',
    undefined,
  ])('do not include %s', (origin) => expect(isLocal(origin)).toBe(false));
});

describe('a page of this gateway', () => {
  const host = 'gateway.example:3000';
  const own = 'http://gateway.example:3000';

  it.each([
    { 'sec-fetch-site': 'same-origin' },
    { origin: own },
    { origin: '', referer: `${own}/accounts` },
    { referer: 'http://GATEWAY.example:3000/' },
  ])('is recognized as the caller by the headers %j', (headers) => expect(siteOf({ host, ...headers })).toBe('own'));

  it.each([
    { 'sec-fetch-site': 'same-site', referer: `${own}/` },
    { origin: 'http://gateway.example', referer: `${own}/` },
    { referer: 'http://gateway.example:3000.evil.example/' },
    { referer: 'http://evil.example/gateway.example:3000' },
    { referer: 'noise' },
  ])('is not recognized with %j', (headers) => expect(siteOf({ host, ...headers })).toBe('foreign'));

  it.each([{}, { 'sec-fetch-site': 'none' }, { origin: '' }])('is none with %j', (headers) =>
    expect(siteOf({ host, ...headers })).toBe('none'),
  );

  it('counts as the live pages only with their name', () => {
    const named = (name: string) => isByOwnPage({ host, origin: own, 'x-client-name': name });
    expect([named('console'), named('treasury')]).toEqual([true, false]);
    expect(isByOwnPage({ host, 'x-client-name': 'console' })).toBe(false);
  });

  it('has no origin without a Host', () => expect(isOwnOrigin(own, undefined)).toBe(false));
});

describe('a preflight', () => {
  const METHOD = { 'access-control-request-method': 'GET' };

  it('is an OPTIONS with origin and method; an empty header counts as missing', async () => {
    const allow = async (headers: Record<string, string>) => (await ask('OPTIONS', headers)).added;
    expect(Object.keys(await allow({ origin: TREASURY, ...METHOD }))).toContain('access-control-allow-methods');
    for (const headers of [{ origin: TREASURY }, METHOD, { origin: '', ...METHOD }]) {
      expect(Object.keys(await allow(headers))).not.toContain('access-control-allow-methods');
    }
    expect((await ask('GET', { origin: TREASURY, ...METHOD })).body).toBe('read');
  });

  it('lists the allowed methods and headers for a listed origin', async () => {
    const { status, added } = await ask('OPTIONS', { origin: TREASURY, ...METHOD });
    expect(status).toBe(204);
    expect(added).toMatchObject({
      'access-control-allow-origin': TREASURY,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers':
        'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name, traceparent, tracestate, baggage',
      'access-control-max-age': '600',
    });
  });

  it.each(OTHERS)('from %j is rejected', async (origin) => {
    expect(await ask('OPTIONS', { origin, ...METHOD })).toEqual({ status: 403, body: 'client-not-allowed', added: {} });
  });
});
