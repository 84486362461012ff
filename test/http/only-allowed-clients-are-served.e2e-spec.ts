import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { cleanUp, start } from '../support/sandbox.js';
import { expectDocumented } from '../support/common-conditions.js';
import { closeGateways, startGateway } from '../support/gateway.js';

afterEach(async () => {
  await closeGateways();
  await cleanUp();
});

const PATH = '/api/v1/accounts';
const FORWARDED = { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1', 'x-real-ip': '127.0.0.1' };

/** Status of a call from a loopback address of our choice. */
function statusFrom(url: string, localAddress: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(url, { localAddress, agent: false }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  })
    .on('error', reject)
    .end();
  return promise;
}

const refuses = async (sandbox: Sandbox, env: Record<string, string>, headers: Record<string, string> = {}) => {
  const gateway = await startGateway(sandbox, env);
  for (const path of [PATH, '/health', '/docs', '/problems', '/nothing']) {
    const answer = await gateway.get(path, headers);
    expect(answer.json).toMatchObject({ status: 403, code: 'client-not-allowed', owner: 'caller', instance: path });
    expectDocumented(answer);
  }
  expect((await gateway.get('/health/live')).json).toEqual({ status: 'ok' });
  expect((await gateway.get('/health/ready')).json).toEqual({ status: 'ok' });
  return gateway;
};

describe('only allowed clients are served', () => {
  it('loopback is, when nothing is said', async () => {
    const gateway = await startGateway(await start());
    expect((await gateway.get(PATH)).status).toBe(200);
    expect(await statusFrom(`${gateway.url}${PATH}`, '127.1.2.3')).toBe(200);
  });

  it('a client that is not listed is refused, but for the probes; what a header says of its address does not count', async () => {
    const sandbox = await start();
    await refuses(sandbox, { ALLOWED_CLIENTS: '10.0.0.0/8,192.0.2.1,fd00::/8' }, FORWARDED);
  });

  it('a list of addresses and networks, to the last bit', async () => {
    const gateway = await startGateway(await start(), { ALLOWED_CLIENTS: '127.0.0.8/30,127.9.9.9' });
    const from = (address: string) => statusFrom(`${gateway.url}${PATH}`, address);
    expect(await from('127.0.0.8')).toBe(200);
    expect(await from('127.0.0.11')).toBe(200);
    expect(await from('127.0.0.12')).toBe(403);
    expect(await from('127.0.0.7')).toBe(403);
    expect(await from('127.9.9.9')).toBe(200);
    expect(await from('127.9.9.8')).toBe(403);
  });

  it.each(['any', 'private', 'loopback'])('%s takes this machine in', async (name) => {
    const gateway = await startGateway(await start(), { ALLOWED_CLIENTS: name });
    expect((await gateway.get(PATH)).status).toBe(200);
  });

  it('an address of another network card is not loopback', async () => {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
    // a machine without a network has nobody to refuse
    if (address === undefined) return;
    const env = { HOST: '0.0.0.0', ALLOWED_HOSTS: '127.0.0.1,localhost', ALLOWED_CLIENTS: 'loopback' };
    const gateway = await startGateway(await start(), env);
    const url = `http://127.0.0.1:${gateway.port}${PATH}`;
    expect(await statusFrom(url, '127.0.0.1')).toBe(200);
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    request(
      { host: address, port: gateway.port, path: PATH, headers: { host: 'localhost' }, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    )
      .on('error', reject)
      .end();
    expect(await promise).toBe(403);
  });
});
