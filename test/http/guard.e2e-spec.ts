import { request } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { expectDocumented } from '../support/common-conditions.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-call.js';
import { start } from '../support/sandbox.js';

// what is accepted to the letter is in src/http/guard.spec.ts, cors.spec.ts and client-list.spec.ts

const LISTED = 'https://treasury.example';
const PATH = '/api/v1/accounts';
const EVERYWHERE = [PATH, '/health', '/docs', '/problems', '/', '/nothing'];

let sandbox: Sandbox;
let gateway: Gateway;
beforeAll(async () => {
  sandbox = await start();
  gateway = await startGateway(sandbox, { CORS_ORIGINS: `${LISTED},http://localhost:5173` });
});

const call = (method: string, headers: Record<string, string>, path = PATH, of = gateway) =>
  rawCall(
    of.port,
    rawRequest(
      `${method} ${path} HTTP/1.1`,
      Object.entries(headers).map((pair) => pair.join(': ')),
    ),
  );
const corsHeaders = (headers: object) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));

/** Status of a call from a loopback address of our choice. */
function statusFrom(localAddress: string, of: Gateway): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request(`${of.url}${PATH}`, { localAddress, agent: false }, (response) => resolve(response.resume().statusCode))
    .on('error', reject)
    .end();
  return promise;
}

describe('the name in Host', () => {
  it('that is not ours is refused everywhere but at the probes', async () => {
    for (const path of EVERYWHERE) {
      const answer = await call('GET', { host: 'evil.example' }, path);
      expect(answer.json).toMatchObject({ status: 421, code: 'host-not-allowed', owner: 'caller', instance: path });
      expectDocumented(answer);
    }
    for (const path of ['/health/live', '/health/ready']) {
      const answer = await call('GET', { host: 'evil.example' }, path);
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }]);
    }
    const around = await call('GET', { host: 'evil.example' }, '/health/ready/../../api/v1/accounts');
    expect(around.status).toBe(421);
  });

  it('is one of ALLOWED_HOSTS, or the address of the connection; and then only those', async () => {
    const named = await startGateway(sandbox, { ALLOWED_HOSTS: 'Accounts.Internal.example,localhost' });
    for (const host of ['accounts.internal.example', 'ACCOUNTS.internal.EXAMPLE:8443', 'localhost', '127.0.0.1']) {
      expect((await call('GET', { host }, PATH, named)).status).toBe(200);
    }
    for (const host of ['127.0.0.2', '[::1]', 'internal.example', 'accounts.internal.example.evil']) {
      expect((await call('GET', { host }, PATH, named)).status).toBe(421);
    }
  });
});

describe('the address of the client', () => {
  it('that is not listed is refused everywhere but at the probes, whatever a header says of it', async () => {
    const other = await startGateway(sandbox, { ALLOWED_CLIENTS: '10.0.0.0/8,192.0.2.1,fd00::/8' });
    for (const path of EVERYWHERE) {
      const answer = await call('GET', { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' }, path, other);
      expect(answer.json).toMatchObject({ status: 403, code: 'client-not-allowed', owner: 'caller', instance: path });
      expectDocumented(answer);
    }
    expect((await call('GET', {}, '/health/live', other)).json).toEqual({ status: 'ok' });
    // its own answer, whichever
    expect([200, 503]).toContain((await call('GET', {}, '/health/ready', other)).status);
  });

  it('is compared to the last bit', async () => {
    const other = await startGateway(sandbox, { ALLOWED_CLIENTS: '127.0.0.8/30,127.9.9.9' });
    const statuses = [];
    for (const address of ['127.0.0.8', '127.0.0.11', '127.9.9.9', '127.0.0.12', '127.0.0.7', '127.9.9.8']) {
      statuses.push(await statusFrom(address, other));
    }
    expect(statuses).toEqual([200, 200, 200, 403, 403, 403]);
  });
});

describe('a page', () => {
  it.each([LISTED, 'http://localhost:5173'])(
    'of %s may read answers and errors, and see our headers',
    async (origin) => {
      for (const [path, status] of [[PATH, 200] as const, [`${PATH}/nobody`, 404] as const]) {
        const answer = await call('GET', { origin }, path);
        expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([status, origin]);
        expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
        expect(answer.headers['access-control-expose-headers']).toBe(
          'Age, Content-Disposition, ETag, Cache-Status, Snapshot-As-Of, Snapshot-Stale, Snapshot-Complete, X-Request-Id, Retry-After',
        );
      }
    },
  );

  it.each(['/', '/problems', '/problems/not-found', '/health', '/metrics', '/openapi.json', PATH])(
    'of one origin gets an answer of %s that no cache gives to another',
    async (path) => {
      for (const origin of [LISTED, 'https://unlisted.example']) {
        const { headers } = await call('GET', { origin }, path);
        expect(String(headers['vary']).toLowerCase()).toContain('origin');
      }
    },
  );

  it('of an origin that is not listed gets no permission', async () => {
    for (const origin of ['https://evil.example', 'null', 'https://treasury.example.evil.example', '']) {
      const plain = await call('GET', { origin });
      expect([plain.status, corsHeaders(plain.headers)]).toEqual([200, []]);
      expect(plain.headers['cross-origin-resource-policy']).toBe('same-origin');
      const preflight = await call('OPTIONS', { origin, 'access-control-request-method': 'GET' });
      expect(preflight.json).toMatchObject({ status: 403, code: 'client-not-allowed', owner: 'caller' });
      expect(corsHeaders(preflight.headers)).toEqual([]);
      expectDocumented(preflight);
    }
  });

  it('of a listed origin has a preflight of 204 that names what may be sent', async () => {
    const { status, headers, text } = await call('OPTIONS', { origin: LISTED, 'access-control-request-method': 'GET' });
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': LISTED,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'Cache-Control, If-None-Match, X-Request-Id, X-Client-Name, traceparent',
      vary: expect.stringMatching(/\borigin\b/i),
    });
  });

  it('of another site calls the API only with a listed origin; a link to pages for people works', async () => {
    for (const origin of ['', 'https://evil.example', 'null']) {
      const answer = await call('GET', { 'sec-fetch-site': 'cross-site', origin });
      expect(answer.json).toMatchObject({ status: 403, code: 'client-not-allowed', owner: 'caller' });
      expectDocumented(answer);
    }
    expect((await call('GET', { 'sec-fetch-site': 'cross-site', origin: LISTED })).status).toBe(200);
    for (const path of ['/docs', '/problems', '/']) {
      expect((await call('GET', { 'sec-fetch-site': 'cross-site' }, path)).status).toBeLessThan(400);
    }
  });

  it('sends the bank nothing', () => {
    const names = new Set(sandbox.requests.flatMap(({ headerNames }) => headerNames));
    for (const name of ['origin', 'referer', 'cookie', 'sec-fetch-site', 'x-client-name'])
      expect(names).not.toContain(name);
  });
});
