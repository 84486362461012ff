import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { cleanUp, start } from '../support/sandbox.js';
import { expectDocumented } from '../support/common-conditions.js';
import { closeGateways, startGateway, type Gateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-call.js';

const LISTED = 'https://treasury.example';
let gateway: Gateway;
let closed: Gateway;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await start();
  gateway = await startGateway(sandbox, { CORS_ORIGINS: `${LISTED},http://localhost:5173` });
  closed = await startGateway(sandbox);
});
afterAll(async () => {
  await closeGateways();
  await cleanUp();
});

const PATH = '/api/v1/accounts';
const call = (method: string, headers: Record<string, string>, path = PATH, of = gateway) =>
  rawCall(
    of.port,
    rawRequest(
      `${method} ${path} HTTP/1.1`,
      Object.entries(headers).map((pair) => pair.join(': ')),
    ),
  );
const corsHeaders = (headers: object) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));

const UNLISTED = [
  'https://evil.example',
  'null',
  'https://treasury.example.evil.example',
  'https://eviltreasury.example',
  'https://treasury.example:8443',
  'http://treasury.example',
  'https://TREASURY.example',
  'https://treasury.example/',
  'https://treasury.example,https://evil.example',
  '*',
  '',
];

describe('pages of other sites are kept out', () => {
  it.each([LISTED, 'http://localhost:5173'])('a page of %s may read, and see our headers', async (origin) => {
    const { status, headers } = await call('GET', { origin });
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-allow-credentials']).toBeUndefined();
    const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(/, */);
    expect(exposed).toEqual(
      expect.arrayContaining([
        'age',
        'content-disposition',
        'etag',
        'cache-status',
        'snapshot-as-of',
        'snapshot-stale',
        'snapshot-complete',
        'x-request-id',
        'retry-after',
      ]),
    );
    expect(String(headers['vary']).toLowerCase()).toContain('origin');
  });

  it.each(['/', '/problems', '/problems/not-found', '/health', '/metrics', '/openapi.json'])(
    'what %s gives to one origin is no answer for another, also out of a cache',
    async (path) => {
      for (const origin of [LISTED, 'https://unlisted.example']) {
        const { headers } = await call('GET', { origin }, path);
        expect(String(headers['vary']).toLowerCase()).toContain('origin');
      }
    },
  );

  it('errors too can be read by a listed page', async () => {
    const answer = await call('GET', { origin: LISTED }, `${PATH}/nobody`);
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([404, LISTED]);
  });

  it.each(UNLISTED)('a page of "%s" gets no permission', async (origin) => {
    const plain = await call('GET', { origin });
    expect(plain.status).toBe(200);
    expect(corsHeaders(plain.headers)).toEqual([]);
    expect(plain.headers['cross-origin-resource-policy']).toBe('same-origin');
    const preflight = await call('OPTIONS', { origin, 'access-control-request-method': 'GET' });
    expect(preflight.status).toBe(403);
    expect(preflight.json).toMatchObject({ code: 'client-not-allowed', owner: 'caller' });
    expect(corsHeaders(preflight.headers)).toEqual([]);
    expectDocumented(preflight);
  });

  it('the preflight of a listed page is 204 and names what may be sent', async () => {
    const { status, headers, text } = await call('OPTIONS', {
      origin: LISTED,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'cache-control,x-client-name',
    });
    expect([status, text]).toEqual([204, '']);
    expect(headers['access-control-allow-origin']).toBe(LISTED);
    expect(String(headers['access-control-allow-methods']).split(/, */).sort()).toEqual(['GET', 'HEAD']);
    const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(/, */).sort();
    expect(allowed).toEqual(['cache-control', 'if-none-match', 'traceparent', 'x-client-name', 'x-request-id']);
    expect(String(headers['vary']).toLowerCase()).toContain('origin');
  });

  it('without CORS_ORIGINS nobody is listed', async () => {
    const plain = await call('GET', { origin: LISTED }, PATH, closed);
    expect(corsHeaders(plain.headers)).toEqual([]);
    const preflight = await call('OPTIONS', { origin: LISTED, 'access-control-request-method': 'GET' }, PATH, closed);
    expect(preflight.status).toBe(403);
  });

  it('a cross-site call to the API is refused unless its origin is listed', async () => {
    for (const headers of [{}, { origin: 'https://evil.example' }, { origin: 'null' }]) {
      const answer = await call('GET', { 'sec-fetch-site': 'cross-site', ...headers });
      expect(answer.json).toMatchObject({ status: 403, code: 'client-not-allowed', owner: 'caller' });
      expectDocumented(answer);
    }
    expect((await call('GET', { 'sec-fetch-site': 'cross-site', origin: LISTED })).status).toBe(200);
  });

  it.each(['same-origin', 'same-site', 'none', 'unheard-of'])('Sec-Fetch-Site: %s passes', async (site) => {
    expect((await call('GET', { 'sec-fetch-site': site })).status).toBe(200);
  });

  it('a link from another site to the pages for people works', async () => {
    for (const path of ['/docs', '/problems', '/']) {
      expect((await call('GET', { 'sec-fetch-site': 'cross-site' }, path)).status).toBeLessThan(400);
    }
  });

  it('nothing of this reached the bank', () => {
    const names = new Set(sandbox.requests.flatMap(({ headerNames }) => headerNames));
    for (const name of ['origin', 'referer', 'cookie', 'sec-fetch-site', 'x-client-name'])
      expect(names).not.toContain(name);
  });
});
