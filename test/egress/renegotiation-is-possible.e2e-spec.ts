import { beforeAll, describe, expect, test } from '@jest/globals';
import { startOpensslServer } from '../support/openssl-server.js';
import type { TLSSocket } from 'node:tls';
import { type Authority, createAuthority } from '../support/authority.js';
import { accountsAt, createEgress } from '../support/egress.js';
import { startTlsServer } from '../support/servers.js';
import { hasOpenssl } from '../support/tools.js';
import { until } from '../support/until.js';

let authority: Authority;
beforeAll(async () => {
  authority = createAuthority('Bank CA');
});

(hasOpenssl() ? describe : describe.skip)('the real openssl', () => {
  // IIS, for one, asks for the client certificate only once it has seen the path
  test('TLS 1.2: a bank that asks for our certificate after the request gets it', async () => {
    const { port, stdin, told } = await startOpensslServer(authority.server(['localhost']), [
      '-tls1_2',
      '-no_ticket',
      '-no_cache',
      '-CAfile',
      authority.file,
    ]);
    const egress = createEgress({ ...authority.client('the gateway'), ca: authority.pem });
    const call = egress.get(accountsAt(`https://localhost:${port}`));
    await until(() => told().includes('GET /api/v1/accounts'));
    expect(told()).not.toContain('the gateway');
    stdin.write('R\n');
    await until(() => told().includes('the gateway'));
    stdin.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}\n');
    expect(await call).toMatchObject({ status: 200 });
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
