import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TLSSocket } from 'node:tls';
import {
  accountsAt,
  closeProxies,
  createAuthority,
  createEgress,
  hasOpenssl,
  startRawServer,
  startTlsServer,
  temporaryDirectory,
  type Authority,
} from '../support/proxies.js';
import { until } from '../support/until.js';

let authority: Authority;
beforeAll(async () => {
  authority = await createAuthority('Bank CA');
});
afterAll(closeProxies);

(hasOpenssl() ? describe : describe.skip)('the real openssl', () => {
  // IIS, for one, asks for the client certificate only once it has seen the path
  test('TLS 1.2: a bank that asks for our certificate after the request gets it', async () => {
    const directory = temporaryDirectory();
    const write = (name: string, text: string) => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const { key, cert } = authority.server(['localhost']);
    const probe = await startRawServer();
    await probe.close();
    const server = spawn('openssl', [
      's_server',
      '-tls1_2',
      '-no_ticket',
      '-no_cache',
      '-accept',
      `127.0.0.1:${probe.port}`,
      '-key',
      write('key.pem', key),
      '-cert',
      write('cert.pem', cert),
      '-CAfile',
      authority.file,
    ]);
    let told = '';
    server.stdout.on('data', (data: Buffer) => (told += data.toString()));
    server.stderr.on('data', (data: Buffer) => (told += data.toString()));
    try {
      await until(() => told.includes('ACCEPT'));
      const egress = createEgress({ ...authority.client('the gateway'), ca: authority.pem });
      const call = egress.get(accountsAt(`https://localhost:${probe.port}`));
      await until(() => told.includes('GET /api/v1/accounts'));
      expect(told).not.toContain('the gateway');
      server.stdin.write('R\n');
      await until(() => told.includes('the gateway'));
      server.stdin.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\n');
      expect(await call).toMatchObject({ status: 200 });
    } finally {
      server.kill('SIGKILL');
    }
  });
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  '%s is spoken with a bank that knows no other, in HTTP/1.1',
  async (version) => {
    const spoken: unknown[] = [];
    const server = await startTlsServer(
      {
        ...authority.server(['localhost']),
        minVersion: version,
        maxVersion: version,
        ALPNProtocols: ['h2', 'http/1.1'],
      },
      (socket: TLSSocket) => {
        spoken.push(socket.getProtocol(), socket.alpnProtocol);
        socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
      },
    );
    const egress = createEgress({ ...authority.client('the gateway'), ca: authority.pem });
    expect(await egress.get(accountsAt(`https://localhost:${server.port}`))).toMatchObject({ status: 200 });
    expect(spoken).toEqual([version, 'http/1.1']);
  },
);
