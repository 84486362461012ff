import { X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { RecentEvents } from '../../src/telemetry/recent-events.js';
import { type Authority, createAuthority, expired, type ServerIdentity } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { type Gateway, get, startGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

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

  it('the counterpart: plain HTTP is not answered on that port', async () => {
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

describe('renewal', () => {
  const DAY_MS = 86_400_000;
  const inDays = (days: number) => ({
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
  });

  let authority: Authority;
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await start();
    authority = createAuthority('Callers trust this');
  });
  // those that wait for the gateway to look do so side by side

  interface Scene {
    readonly gateway: Gateway;
    put(identity: Partial<ServerIdentity>): void;
  }

  async function startWith(identity: ServerIdentity): Promise<Scene> {
    const directory = temporaryDirectory();
    const [certFile, keyFile] = [join(directory, 'tls.pem'), join(directory, 'tls.key')];
    const put = ({ cert, key }: Partial<ServerIdentity>) => {
      for (const [file, text] of [
        [certFile, cert],
        [keyFile, key],
      ] as const) {
        if (text === undefined) continue;
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      }
    };
    put(identity);
    const gateway = await startGateway(sandbox, { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile });
    // once it has accounts, health depends on the certificate alone
    await until(async () => (await health(gateway)).status !== 'error', 20_000);
    return { gateway, put };
  }

  const server = (days: number) => authority.server(['localhost'], inDays(days));
  const serialOf = ({ cert }: ServerIdentity) => new X509Certificate(cert).serialNumber;

  /** The serial number of the certificate that a new caller is shown, and verifies. */
  function shown({ port }: Gateway): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.pem }, () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
    return promise;
  }

  function health({ port }: Gateway): Promise<{ status: string; details: { listener: object } }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: string; details: { listener: object } }>();
    const options = { port, host: '127.0.0.1', servername: 'localhost', ca: authority.pem, agent: false };
    request({ ...options, path: '/health' }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += String(chunk)));
      answer.on('end', () => resolve(JSON.parse(text) as { status: string; details: { listener: object } }));
    })
      .on('error', reject)
      .end();
    return promise;
  }

  describe('the certificate of the internal API', () => {
    it('is renewed within 5 s of a change, and callers in the middle of a connection notice nothing', async () => {
      const [old, young] = [server(100), server(200)];
      const { gateway, put } = await startWith(old);
      expect(await shown(gateway)).toBe(serialOf(old));
      expect((await health(gateway)).details.listener).toMatchObject({
        status: 'up',
        subject: expect.stringContaining('CN=a server'),
        daysLeft: 99,
      });
      const before = connect({ port: gateway.port, host: '127.0.0.1', servername: 'localhost', ca: authority.pem });
      await new Promise((resolve) => before.once('secureConnect', resolve));
      put(young);
      await until(async () => (await shown(gateway)) === serialOf(young), 20_000);
      before.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect(await new Promise((resolve) => before.once('data', (chunk) => resolve(String(chunk).slice(0, 12))))).toBe(
        'HTTP/1.1 200',
      );
      before.destroy();
      expect((await health(gateway)).details.listener).toMatchObject({ status: 'up', daysLeft: 199 });
      expect(gateway.events('certificate.replaced')).toEqual([
        expect.objectContaining({ use: 'listener', level: 'info', subject: expect.stringContaining('CN=a server') }),
      ]);
    });

    it('is looked at on SIGHUP at once', async () => {
      const [old, young] = [server(100), server(200)];
      const { gateway, put } = await startWith(old);
      put(young);
      gateway.app.get(AppModule).reload();
      expect(await shown(gateway)).toBe(serialOf(young));
    });

    it.each<[string, () => Partial<ServerIdentity>, string]>([
      ['the key of another', () => ({ key: authority.self.key }), 'does not match TLS_CERT_FILE'],
      ['no PEM', () => ({ cert: 'nothing' }), 'contains no PEM certificate'],
      ['half a file', () => ({ cert: server(200).cert.slice(0, 300) }), 'cannot be parsed'],
      ['an empty file', () => ({ cert: '' }), 'contains no PEM certificate'],
      ['an expired one', () => authority.server(['localhost'], expired()), 'is not valid now'],
    ])(
      'stays when the new one is bad (%s), which is logged once; a good one is taken after it',
      async (_name, bad, why) => {
        const [old, young] = [server(100), server(200)];
        const { gateway, put } = await startWith(old);
        put(bad());
        // logged once, however often it is looked at
        for (let look = 0; look < 2; look++) gateway.app.get(AppModule).reload();
        expect(await shown(gateway)).toBe(serialOf(old));
        expect(gateway.events('certificate.refused')).toEqual([
          expect.objectContaining({ use: 'listener', level: 'error', msg: expect.stringContaining(why) }),
        ]);
        const { status, details } = await health(gateway);
        expect(status).toBe('degraded');
        expect(details.listener).toMatchObject({
          status: 'degraded',
          code: 'certificate-unusable',
          owner: 'operator',
          detail: expect.stringContaining(why),
          remedy: expect.stringContaining('TLS_CERT_FILE'),
        });
        put(young);
        await until(async () => (await shown(gateway)) === serialOf(young), 20_000);
        expect((await health(gateway)).details.listener).toMatchObject({ status: 'up' });
        expect(gateway.events('certificate.refused')).toHaveLength(1);
      },
    );

    it('under 30 days is degraded', async () => {
      const { gateway } = await startWith(server(20));
      const { status, details } = await health(gateway);
      expect(status).toBe('degraded');
      expect(details.listener).toMatchObject({ status: 'degraded', daysLeft: 19, code: 'certificate-expiring' });
    });

    it('that ends in 20 days is logged once, and again when another ends soon; the counterpart, one that lasts, is not', async () => {
      const { gateway, put } = await startWith(server(20));
      const expiring = () => gateway.events('certificate.expiring').filter(({ use }) => use === 'listener');
      expect(expiring()).toEqual([expect.objectContaining({ level: 'warn', daysLeft: 19 })]);
      // it is not the client certificate that ends
      const reported = gateway.app.get(RecentEvents).events.filter(({ event }) => event === 'certificate.expiring');
      expect(reported).toMatchObject([{ msg: 'a certificate expires soon, or has expired' }]);
      put(server(100));
      gateway.app.get(AppModule).reload();
      const looked = gateway.events('certificate.replaced').length;
      expect(looked).toBe(1);
      expect(expiring()).toHaveLength(1);
      put(server(5));
      gateway.app.get(AppModule).reload();
      await until(() => expiring().length > 1);
      expect(expiring()[1]).toMatchObject({
        level: 'error',
        daysLeft: 4,
        msg: expect.stringContaining('TLS_CERT_FILE'),
      });
    });

    it('the counterpart: plain HTTP has none', async () => {
      const gateway = await startGateway(sandbox);
      expect((await gateway.get('/health')).json.details).not.toHaveProperty('listener');
    });
  });
});
