import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { expectDocumented } from '../support/common-conditions.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-connection.js';
import { control, start } from '../support/sandbox.js';
import { until } from '../support/until.js';

// the exact rules are tested in src/http: guard.spec.ts and cors.spec.ts

const LISTED = 'https://treasury.example';
const PATH = '/api/v1/accounts';
const EVERYWHERE = [PATH, '/health', '/metrics', '/openapi.json', '/docs', '/problems', '/', '/nothing'];
const MADE_ID = /^[0-9a-f-]{36}$/;

let sandbox: Sandbox;
let gateway: Gateway;
beforeAll(async () => {
  sandbox = await start();
  gateway = await startGateway(sandbox, {
    CORS_ORIGINS: LISTED,
    SNAPSHOT_FRESH_MS: '600000',
    SNAPSHOT_MAX_AGE_MS: '600000',
  });
  await until(async () => (await gateway.get('/health/ready')).status === 200);
});

const call = (headers: readonly string[] = [], path = PATH, { of = gateway, method = 'GET' } = {}) =>
  rawCall(of.port, rawRequest(`${method} ${path} HTTP/1.1`, headers));
const line = async (requestId: string) => {
  const find = () => gateway.events('request').find((each) => each['requestId'] === requestId);
  await until(() => find() !== undefined);
  return find();
};

describe('who may call', () => {
  it('an unknown Host is rejected by every route except the probes', async () => {
    const foreign = ['Host: evil.example'];
    for (const path of EVERYWHERE) {
      const answer = await call(foreign, path);
      expect(answer.json).toMatchObject({ status: 421, code: 'host-not-allowed', owner: 'caller', instance: path });
      expectDocumented(answer);
    }
    for (const path of ['/health/live', '/health/ready']) {
      const answer = await call(foreign, path);
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }]);
    }
    expect((await call(foreign, '/health/ready/../../api/v1/accounts')).status).toBe(421);
  });

  it('an unlisted address is rejected by every route except the probes, whatever X-Forwarded-For contains', async () => {
    const other = await startGateway(sandbox, { ALLOWED_CLIENTS: '10.0.0.0/8,127.0.0.8/30' });
    for (const path of EVERYWHERE) {
      const answer = await call(['X-Forwarded-For: 127.0.0.8', 'Forwarded: for=127.0.0.8'], path, { of: other });
      expect(answer.json).toMatchObject({ status: 403, code: 'client-not-allowed', owner: 'caller', instance: path });
      expectDocumented(answer);
    }
    expect((await call([], '/health/live', { of: other })).json).toEqual({ status: 'ok' });
  });

  it('a page of a listed origin may read responses and errors, and caches keep origins apart', async () => {
    for (const path of [...EVERYWHERE, `${PATH}/nobody`]) {
      const { headers } = await call([`Origin: ${LISTED}`], path);
      expect(headers['access-control-allow-origin']).toBe(LISTED);
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      expect(headers['access-control-expose-headers']).toContain('Snapshot-As-Of');
      expect(String(headers['vary']).toLowerCase()).toContain('origin');
    }
    const options = { method: 'OPTIONS' };
    const preflight = await call([`Origin: ${LISTED}`, 'Access-Control-Request-Method: GET'], PATH, options);
    expect([preflight.status, preflight.text]).toEqual([204, '']);
    expect(preflight.headers['access-control-allow-methods']).toBe('GET, HEAD');
  });

  it('the negative case: a page of another origin or site gets no permission', async () => {
    const origin = 'Origin: https://evil.example';
    const plain = await call([origin], '/health');
    expect([plain.status, plain.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    expect(String(plain.headers['vary']).toLowerCase()).toContain('origin');
    for (const rejected of [
      await call([origin]),
      await call([origin, 'Access-Control-Request-Method: GET'], PATH, { method: 'OPTIONS' }),
      await call([origin, 'Sec-Fetch-Site: cross-site']),
    ]) {
      expect(rejected.json).toMatchObject({ status: 403, code: 'client-not-allowed', owner: 'caller' });
      expect(rejected.headers['access-control-allow-origin']).toBeUndefined();
      expectDocumented(rejected);
    }
    expect((await call([`Origin: ${LISTED}`, 'Sec-Fetch-Site: cross-site'])).status).toBe(200);
    expect((await call(['Sec-Fetch-Site: cross-site'], '/docs')).status).toBe(200);
  });
});

describe('the request id and the log line', () => {
  it('a valid X-Request-Id is kept, in the response, in an error and in the log line', async () => {
    const { headers, json } = await call(['X-Request-Id: my-id'], '/nothing');
    expect([headers['x-request-id'], json.requestId]).toEqual(['my-id', 'my-id']);
    expect(await line('my-id')).toMatchObject({ status: 404 });
  });

  it.each([
    ['/health/live', 200, 'debug'],
    ['/health', 200, 'info'],
    ['/health/lives', 404, 'info'],
  ])('the log line of %s with status %i has level %s', async (path, status, level) => {
    const { headers } = await call([], path);
    expect(await line(String(headers['x-request-id']))).toMatchObject({ status, level });
  });

  it('the log line contains route and client, not the URL', async () => {
    const headers = ['X-Request-Id: r-1', 'X-Client-Name: treasury-ui', `Origin: ${LISTED}`];
    await call(headers, `${PATH}/secret-id?x=1`);
    expect(await line('r-1')).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      level: 'info',
      msg: 'request',
      event: 'request',
      requestId: 'r-1',
      method: 'GET',
      route: `${PATH}/:accountId`,
      status: 400,
      ms: expect.any(Number),
      code: 'invalid-request',
      owner: 'caller',
      client: '127.0.0.1',
      origin: LISTED,
      clientName: 'treasury-ui',
    });
    await call(['X-Request-Id: r-2']);
    await call(['X-Request-Id: r-3']);
    expect(await line('r-3')).toMatchObject({ route: PATH, status: 200, cache: 'hit' });
    await call(['X-Request-Id: r-4'], '/nothing/at/all');
    expect(JSON.stringify(await line('r-4'))).not.toContain('nothing');
  });

  it('the log line contains the id of its refresh, even of a failed one; a 5xx is logged at warn, even for a probe', async () => {
    const other = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '0' });
    await control(sandbox, 'PATCH', { grantAccess: false });
    const { json } = await other.get(PATH);
    expect((await other.get('/health/ready')).status).toBe(503);
    await control(sandbox, 'DELETE');
    expect(json.code).toBe('access-not-granted');
    await until(() => other.events('request').length === 2 && other.events('snapshot.failed').length > 0);
    const [failed] = other.events('snapshot.failed');
    expect(failed).toMatchObject({ level: 'error', refreshId: expect.stringMatching(MADE_ID) });
    const cause = { refreshId: failed?.['refreshId'], code: 'access-not-granted', level: 'warn' };
    expect(other.events('request')).toMatchObject([cause, { status: 503, level: 'warn' }]);
  });

  it('an empty header counts as missing', async () => {
    const names = ['X-Client-Name', 'Origin', 'Accept', 'Accept-Encoding', 'Cache-Control', 'If-None-Match'];
    await call(['X-Request-Id: r-6', ...names.map((name) => `${name}:`)]);
    const logged = await line('r-6');
    expect(logged).toMatchObject({ status: 200, cache: 'hit' });
    expect(logged).not.toHaveProperty('clientName');
    expect(logged).not.toHaveProperty('origin');
    expect((await call(['X-Request-Id:'])).headers['x-request-id']).toMatch(MADE_ID);
  });

  it('the log line contains no IBAN, not even in the client name', async () => {
    await call(['X-Request-Id: r-5', 'X-Client-Name: DE89370400440532013000']);
    expect(await line('r-5')).toMatchObject({ clientName: `DE${'*'.repeat(20)}` });
  });
});

it('nothing from a caller is forwarded to the bank, neither its request id nor its headers', async () => {
  const custom = ['X-Custom: 1', 'Cookie: a=b', 'User-Agent: curl/8', 'X-Client-Name: me', `Origin: ${LISTED}`];
  await call(['X-Request-Id: from-caller', 'Cache-Control: no-cache', ...custom]);
  expect(sandbox.requests.map(({ requestId }) => requestId)).not.toContain('from-caller');
  expect([...new Set(sandbox.requests.flatMap(({ headerNames }) => headerNames))].sort()).toEqual(
    'accept accept-encoding authorization connection content-type host user-agent x-request-id'.split(' '),
  );
  expect(new Set(sandbox.requests.map(({ path, method }) => `${method} ${path}`))).toEqual(
    new Set(['GET /api/v1/authorizations/authorize', 'GET /api/v1/accounts']),
  );
});

it.each([...EVERYWHERE, `${PATH}/none`, '/health/live'])('%s has the usual security headers', async (path) => {
  const { headers } = await call([], path);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(headers['x-powered-by'] ?? headers['server']).toBeUndefined();
});
