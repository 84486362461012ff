import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cleanUp, start } from '../support/sandbox.js';
import { expectDocumented } from '../support/common-conditions.js';
import { closeGateways, startGateway, type Gateway } from '../support/gateway.js';
import { rawCall, rawRequest } from '../support/raw-call.js';

let gateway: Gateway;
let named: Gateway;
beforeAll(async () => {
  const sandbox = await start();
  gateway = await startGateway(sandbox);
  named = await startGateway(sandbox, { ALLOWED_HOSTS: 'Accounts.Internal.example,localhost' });
});
afterAll(async () => {
  await closeGateways();
  await cleanUp();
});

const PATH = '/api/v1/accounts';
const ask = (host: string, path = PATH, of = gateway) =>
  rawCall(of.port, rawRequest(`GET ${path} HTTP/1.1`, [`Host: ${host}`]));

describe('only allowed names are served', () => {
  it.each(['localhost', 'LOCALHOST', 'localhost:3000', '127.0.0.1', '127.0.0.1:65535', '[::1]', '[::1]:3000'])(
    'Host %s is ours',
    async (host) => {
      expect((await ask(host)).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    'evil.example:3000',
    'localhost.',
    'xlocalhost',
    'localhost@evil.example',
    'localhost, evil.example',
    'localhost evil.example',
    'localhost:3000:3000',
    'localhost:abc',
    'localhost:',
    '::1',
    '[::2]',
    '127.0.0.2',
    '127.1',
    '',
  ])('Host "%s" is not', async (host) => {
    for (const path of [PATH, '/health', '/docs', '/problems', '/', '/nothing']) {
      const answer = await ask(host, path);
      expect(answer.status).toBe(421);
      expect(answer.json).toMatchObject({ code: 'host-not-allowed', owner: 'caller', instance: path });
      expectDocumented(answer);
    }
  });

  it('names of the operator, in any letter case, and the address of the connection; and then only those', async () => {
    for (const host of ['accounts.internal.example', 'ACCOUNTS.internal.EXAMPLE:8443', 'localhost', '127.0.0.1']) {
      expect((await ask(host, PATH, named)).status).toBe(200);
    }
    for (const host of ['127.0.0.2', '[::1]', 'internal.example', 'accounts.internal.example.evil']) {
      expect((await ask(host, PATH, named)).status).toBe(421);
    }
  });

  it('probes of live and ready may use any name', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const answer = await ask('10.1.2.3:3000', path);
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }]);
    }
    expect((await ask('10.1.2.3', '/health')).status).toBe(421);
    expect((await ask('10.1.2.3', '/health/live/')).status).toBe(421);
    expect((await ask('10.1.2.3', '/health/ready/../../api/v1/accounts')).status).toBe(421);
  });

  it.each([
    ['two Host headers', [`GET ${PATH} HTTP/1.1`, 'Host: localhost', 'Host: localhost']],
    ['two that differ', [`GET ${PATH} HTTP/1.1`, 'Host: localhost', 'host: evil.example']],
    ['an absolute address', ['GET http://localhost/api/v1/accounts HTTP/1.1', 'Host: localhost']],
    ['a foreign absolute address', ['GET http://evil.example/api/v1/accounts HTTP/1.1', 'Host: localhost']],
    ['no Host', [`GET ${PATH} HTTP/1.1`, 'X-Other: 1']],
    ['HTTP/1.0 without Host', [`GET ${PATH} HTTP/1.0`, 'X-Other: 1']],
    ['two Hosts at a probe', ['GET /health/live HTTP/1.1', 'Host: localhost', 'Host: b']],
  ])('%s is malformed', async (_name, lines) => {
    const answer = await rawCall(gateway.port, `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'malformed-request', owner: 'caller' });
    expectDocumented(answer);
  });
});
