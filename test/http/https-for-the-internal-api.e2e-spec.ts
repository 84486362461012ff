import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { start } from '../support/sandbox.js';
import { get, startGateway, type Gateway } from '../support/gateway.js';

let sandbox: Sandbox;
let env: Record<string, string>;
beforeAll(async () => {
  sandbox = await start();
  // any certificate that covers 127.0.0.1 will do for ours
  env = {
    TLS_CERT_FILE: join(sandbox.directory, 'server.pem'),
    TLS_KEY_FILE: join(sandbox.directory, 'server-key.pem'),
  };
});

function getSecurely(gateway: Gateway, path: string): Promise<{ status: number; text: string; protocol: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string; protocol: string }>();
  const ca = readFileSync(sandbox.files.ca);
  request(`https://127.0.0.1:${gateway.port}${path}`, { ca, agent: false }, (response) => {
    let text = '';
    const protocol =
      'getProtocol' in response.socket ? String((response.socket as { getProtocol(): string }).getProtocol()) : '';
    response.on('data', (chunk) => (text += String(chunk)));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text, protocol }));
  })
    .on('error', reject)
    .end();
  return promise;
}

describe('HTTPS for the internal API', () => {
  it('is spoken with TLS_CERT_FILE and TLS_KEY_FILE, by a certificate that callers verify', async () => {
    const gateway = await startGateway(sandbox, env);
    const { status, text, protocol } = await getSecurely(gateway, '/api/v1/accounts');
    expect([status, protocol]).toEqual([200, 'TLSv1.3']);
    expect(JSON.parse(text)).toMatchObject({ page: { total: 120 } });
    expect((await getSecurely(gateway, '/nothing')).status).toBe(404);
    expect((await getSecurely(gateway, '/health/live')).status).toBe(200);
  });

  it('its twin: plain HTTP is not answered on that port', async () => {
    const gateway = await startGateway(sandbox, env);
    await expect(get(`http://127.0.0.1:${gateway.port}/health/live`)).rejects.toThrow();
    expect((await getSecurely(gateway, '/health/live')).status).toBe(200);
  });

  it('nothing older than TLS 1.2, and no caller is asked for a certificate', async () => {
    const gateway = await startGateway(sandbox, env);
    const ca = readFileSync(sandbox.files.ca);
    const dial = (options: object) =>
      new Promise<string>((resolve) => {
        const socket = connect({ host: '127.0.0.1', port: gateway.port, ca, ...options }, () => {
          resolve(String(socket.getProtocol()));
          socket.destroy();
        });
        socket.on('error', () => resolve('refused'));
      });
    expect(await dial({ maxVersion: 'TLSv1.2' })).toBe('TLSv1.2');
    expect(await dial({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })).toBe('refused');
  });
});
