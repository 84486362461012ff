import { X509Certificate } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AppModule } from '../../src/app.module.js';
import { createAuthority, expired, type ServerIdentity } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { call, get } from '../support/call.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

const DAY_MS = 86_400_000;

const authority = createAuthority('Callers trust this');

/** A certificate that is valid for this many days. */
const server = (days: number): ServerIdentity =>
  authority.server(['localhost'], {
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
  });
const serialOf = ({ cert }: ServerIdentity) => new X509Certificate(cert).serialNumber;

const directory = temporaryDirectory();
const files = { cert: join(directory, 'tls.pem'), key: join(directory, 'tls.key') };
/** Overwrites the listener's files. */
function put(changed: Partial<ServerIdentity>): void {
  for (const [name, text] of Object.entries(changed)) {
    const file = files[name as keyof ServerIdentity];
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
}

let gateway: Gateway;
beforeAll(async () => {
  put(server(20));
  gateway = await startGateway(await start(), { TLS_CERT_FILE: files.cert, TLS_KEY_FILE: files.key });
  // with a cached snapshot, health depends on the certificate alone
  await until(async () => (await getSecurely(gateway, '/health')).json.status !== 'error');
});
/** Reloads as after SIGHUP. */
const reload = () => gateway.app.get(AppModule).reload();
/** The lines about the certificate of the listener. */
const linesOf = (event: string) => gateway.events(event).filter(({ use }) => use === 'listener');

const trusting = ({ port }: Gateway): ConnectionOptions => ({
  port,
  host: '127.0.0.1',
  servername: 'localhost',
  ca: authority.pem,
});

const getSecurely = ({ port }: Gateway, path: string) =>
  call(`https://localhost:${port}${path}`, { ca: authority.pem });

/** Protocol and certificate serial number of a new, verified connection. */
function dial(gateway: Gateway, options: ConnectionOptions = {}): Promise<{ protocol: string; serial: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ protocol: string; serial: string }>();
  const socket = connect({ ...trusting(gateway), ...options }, () => {
    const serial = socket.getPeerX509Certificate()?.serialNumber ?? '';
    resolve({ protocol: String(socket.getProtocol()), serial });
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}
const shown = async (gateway: Gateway) => (await dial(gateway)).serial;
const listenerOf = async (gateway: Gateway) => (await getSecurely(gateway, '/health')).json.details.listener as object;

describe('HTTPS for the internal API', () => {
  it('accepts TLS 1.2 and 1.3 with TLS_CERT_FILE and TLS_KEY_FILE, and rejects plain HTTP and older versions', async () => {
    expect((await getSecurely(gateway, '/api/v1/accounts')).json).toMatchObject({ page: { total: 120 } });
    expect((await getSecurely(gateway, '/nothing')).status).toBe(404);
    expect((await dial(gateway)).protocol).toBe('TLSv1.3');
    expect((await dial(gateway, { maxVersion: 'TLSv1.2' })).protocol).toBe('TLSv1.2');
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(dial(gateway, old)).rejects.toThrow();
    await expect(get(`http://127.0.0.1:${gateway.port}/health/live`)).rejects.toThrow();
  });

  it('accepts clients of HTTP/1.0, such as curl --http1.0; one of HTTP/2 only is rejected', async () => {
    await expect(dial(gateway, { ALPNProtocols: ['http/1.0'] })).resolves.toMatchObject({ protocol: 'TLSv1.3' });
    await expect(dial(gateway, { ALPNProtocols: ['h2'] })).rejects.toThrow();
  });
});

describe('the certificate of the internal API', () => {
  it('makes /health degraded if it expires in 20 days, and is logged with use: listener; one with a longer validity is not', async () => {
    expect((await getSecurely(gateway, '/health')).json.status).toBe('degraded');
    expect(await listenerOf(gateway)).toMatchObject({ status: 'degraded', daysLeft: 19, code: 'certificate-expiring' });
    const msg = expect.stringContaining('TLS_CERT_FILE');
    expect(linesOf('certificate.expiring')).toEqual([expect.objectContaining({ level: 'warn', daysLeft: 19, msg })]);
    put(server(100));
    await reload();
    expect(await listenerOf(gateway)).toMatchObject({ status: 'up', daysLeft: 99 });
  });

  it('is renewed within 5 s of a change, without closing open connections', async () => {
    const young = server(200);
    put(server(100));
    await reload();
    const replaced = linesOf('certificate.replaced').length;
    const subject = expect.stringContaining('CN=a server');
    expect(await listenerOf(gateway)).toMatchObject({ status: 'up', subject, daysLeft: 99 });
    const before = connect(trusting(gateway));
    await new Promise((resolve) => before.once('secureConnect', resolve));
    put(young);
    await until(async () => (await shown(gateway)) === serialOf(young));
    before.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const answer = await new Promise((resolve) => before.once('data', (chunk) => resolve(String(chunk))));
    expect(answer).toMatch(/^HTTP\/1.1 200/);
    before.destroy();
    expect(await listenerOf(gateway)).toMatchObject({ status: 'up', daysLeft: 199 });
    expect(linesOf('certificate.replaced').slice(replaced)).toEqual([
      expect.objectContaining({ level: 'info', subject }),
    ]);
  });

  it('stays in use while the new one is bad, which is logged once; a later good one is used, at once after SIGHUP', async () => {
    const [old, young] = [server(100), server(200)];
    put(old);
    await reload();
    const bad: [Partial<ServerIdentity>, string][] = [
      [{ ...old, key: authority.self.key }, 'does not match TLS_CERT_FILE'],
      [{ cert: server(200).cert.slice(0, 300) }, 'is cut off'],
      [authority.server(['localhost'], expired()), 'is not valid now'],
    ];
    for (const [identity, why] of bad) {
      put(identity);
      await reload();
      expect(await shown(gateway)).toBe(serialOf(old));
      expect((await getSecurely(gateway, '/health')).json.status).toBe('degraded');
      expect(await listenerOf(gateway)).toMatchObject({
        status: 'degraded',
        code: 'certificate-unusable',
        owner: 'operator',
        detail: expect.stringContaining(why),
        remedy: expect.stringContaining('Install a valid certificate'),
      });
    }
    expect(linesOf('certificate.refused')).toEqual(
      bad.map(([, why]) => expect.objectContaining({ level: 'error', msg: expect.stringContaining(why) })),
    );
    put(young);
    await reload();
    expect(await shown(gateway)).toBe(serialOf(young));
    expect(await listenerOf(gateway)).toMatchObject({ status: 'up' });
    const before = linesOf('certificate.warning').length;
    put(authority.server(['www.example']));
    await reload();
    expect(linesOf('certificate.warning').slice(before)).toMatchObject([
      { level: 'warn', msg: expect.stringContaining('The chain is incomplete') },
      { level: 'warn', msg: expect.stringContaining('is for DNS:www.example, not for localhost') },
    ]);
  });
});
