import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { control, start } from '../support/sandbox.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-call.js';
import { until } from '../support/until.js';

let gateway: Gateway;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await start();
  gateway = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '600000', SNAPSHOT_MAX_AGE_MS: '600000' });
});

const PATH = '/api/v1/accounts';
const ask = (headers: string[] = [], path = PATH) => rawCall(gateway.port, rawRequest(`GET ${path} HTTP/1.1`, headers));
const line = async (requestId: string) => {
  const find = () => gateway.events('request').find((each) => each['requestId'] === requestId);
  await until(() => find() !== undefined);
  return find();
};

describe('every answer can be traced', () => {
  it.each(['a', 'order-42', 'A.b_c-D', '0'.repeat(64)])('X-Request-Id %s is taken', async (id) => {
    const { headers } = await ask([`X-Request-Id: ${id}`]);
    expect(headers['x-request-id']).toBe(id);
    expect(await line(id)).toMatchObject({ requestId: id, status: 200 });
  });

  it.each(['', '0'.repeat(65), 'with space', 'a;b', 'a"b', '{"a":1}', 'é', 'a,b', '../x'])(
    'X-Request-Id "%s" is not, and another is made',
    async (id) => {
      const { headers } = await ask([`X-Request-Id: ${id}`]);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(await line(String(headers['x-request-id']))).toBeDefined();
    },
  );

  it.each([
    ['/health/live', 200, 'debug'],
    ['/health/ready', 200, 'debug'],
    ['/health', 200, 'info'],
    ['/health/live?x=%zz', 200, 'debug'],
    ['/health/lives', 404, 'info'],
  ])('the line of %s with %i is of level %s', async (path, status, level) => {
    await until(async () => (await gateway.get('/health/ready')).status === 200);
    const id = `level-${path.replace(/[^a-z]/g, '')}`;
    await ask([`X-Request-Id: ${id}`], path);
    expect(await line(id)).toMatchObject({ status, level });
  });

  it('a 5xx has its line at warn, that of a probe too', async () => {
    const other = await startGateway(sandbox, { BANK_BASE_URL: 'https://127.0.0.1:1' });
    expect((await other.get('/health/ready')).status).toBe(503);
    await until(() => other.events('request').length === 1);
    expect(other.events('request')[0]).toMatchObject({ status: 503, level: 'warn' });
  });

  it('two of them are none', async () => {
    const { headers } = await ask(['X-Request-Id: one', 'X-Request-Id: two']);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('an error has the id in its body, too', async () => {
    const answer = await ask(['X-Request-Id: my-id'], '/nothing');
    expect(answer.json.requestId).toBe('my-id');
    expect(answer.headers['x-request-id']).toBe('my-id');
  });

  it('the line of a request names its refresh also when that fails', async () => {
    const other = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '0' });
    await control(sandbox, 'PATCH', { grantAccess: false });
    try {
      const { json } = await other.get(PATH);
      expect(json.code).toBe('access-not-granted');
      await until(() => other.events('request').length === 1 && other.events('snapshot.failed').length === 1);
      const [failed] = other.events('snapshot.failed');
      expect(other.events('request')[0]).toMatchObject({
        refreshId: failed?.['refreshId'],
        code: 'access-not-granted',
      });
      expect(failed).toMatchObject({ level: 'error', refreshId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    } finally {
      await control(sandbox, 'DELETE');
    }
  });

  it('the line of a request has the route, not the address, and who called', async () => {
    await ask(
      ['X-Request-Id: r-1', 'X-Client-Name: treasury-ui', 'Origin: https://a.example'],
      `${PATH}/secret-id?x=1`,
    );
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
      origin: 'https://a.example',
      clientName: 'treasury-ui',
    });
    await ask(['X-Request-Id: r-2']);
    expect(await line('r-2')).toMatchObject({ route: PATH, status: 200, cache: 'hit' });
    await ask(['X-Request-Id: r-3'], '/nothing/at/all');
    expect((await line('r-3'))?.['status']).toBe(404);
    expect(JSON.stringify(await line('r-3'))).not.toContain('nothing');
  });

  it('what a caller sends cannot forge a log line', async () => {
    const name = `a\\u000a{"event":"x"}${'n'.repeat(500)}`;
    await ask(['X-Request-Id: r-4', `X-Client-Name: ${name}`, 'Origin: a\xff\x80b']);
    expect(await line('r-4')).toMatchObject({
      clientName: name.slice(0, 100),
      origin: expect.stringMatching(/^a\?+b$/),
    });
    for (const each of gateway.lines) expect(each.trimEnd()).not.toContain('\n');
  });

  it('an IBAN as the name of a client is not logged', async () => {
    await ask(['X-Request-Id: name-1', 'X-Client-Name: DE89370400440532013000']);
    expect(await line('name-1')).toMatchObject({ clientName: `DE${'*'.repeat(20)}` });
    await ask(['X-Request-Id: name-2', 'X-Client-Name: app-2026']);
    expect(await line('name-2')).toMatchObject({ clientName: 'app-2026' });
  });

  it('what never became a request has its line as well', async () => {
    const unreadable = await ask(['X-Request-Id: r-5'], `${PATH}/%ff`);
    expect(unreadable.headers['x-request-id']).toBe('r-5');
    expect(await line('r-5')).toMatchObject({ method: 'GET', status: 400, code: 'malformed-request' });
    const noHttp = await rawCall(gateway.port, 'FETCH / HTTP/1.1\r\n\r\n');
    expect(await line(String(noHttp.headers['x-request-id']))).toMatchObject({
      method: null,
      status: 400,
      code: 'malformed-request',
      client: '127.0.0.1',
    });
  });

  it('nothing a caller sends reaches the bank: not their id, not their headers', async () => {
    await ask([
      'X-Request-Id: from-caller',
      'Cache-Control: no-cache',
      'X-Custom: 1',
      'Cookie: a=b',
      'User-Agent: curl/8',
    ]);
    const ids = sandbox.requests.map(({ requestId }) => requestId);
    expect(ids).not.toContain('from-caller');
    const names = [...new Set(sandbox.requests.flatMap(({ headerNames }) => headerNames))].sort();
    expect(names).toEqual(
      [
        'accept',
        'accept-encoding',
        'authorization',
        'connection',
        'content-type',
        'host',
        'user-agent',
        'x-request-id',
      ].sort(),
    );
    expect(new Set(sandbox.requests.map(({ path, method }) => `${method} ${path}`))).toEqual(
      new Set(['GET /api/v1/authorizations/authorize', 'GET /api/v1/accounts']),
    );
  });

  it.each([
    '/api/v1/accounts',
    '/api/v1/accounts/none',
    '/health',
    '/health/live',
    '/openapi.json',
    '/problems',
    '/nothing',
    '/docs',
  ])('%s has the usual security headers', async (path) => {
    const { headers } = await ask([], path);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers['server']).toBeUndefined();
  });
});
