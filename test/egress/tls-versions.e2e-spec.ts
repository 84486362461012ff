import type { TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Authority, createAuthority } from '../support/authority.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { accountsAt, createEgress } from '../support/egress.js';
import { startGateway } from '../support/gateway.js';
import { askingLate, ASKS_LATE } from '../support/late-certificate.js';
import { issueToken, startPretendBank } from '../support/pretend-bank.js';
import { listSample } from '../support/sample-accounts.js';
import { startTlsServer } from '../support/servers.js';

describe('a certificate after the request', () => {
  async function startLateBank() {
    const bank = await startPretendBank({ server: ASKS_LATE });
    bank.onToken = askingLate(issueToken(bank));
    bank.onAccounts = askingLate(listSample());
    return bank;
  }

  test.each(['direct', 'proxy'])('%s: with BANK_TLS_MAX_VERSION=1.2 the bank gets the certificate', async (route) => {
    const bank = await startLateBank();
    const env = route === 'proxy' ? { EGRESS_PROXY_URL: (await startConnectProxy()).url.href } : {};
    const gateway = await startGateway(bank, { BANK_TLS_MAX_VERSION: '1.2', ...env });
    expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  });

  test('the counterpart: over TLS 1.3, which is the default, the bank does not', async () => {
    const gateway = await startGateway(await startLateBank());
    expect((await gateway.get('/api/v1/accounts')).json).toMatchObject({ status: 502, code: 'address-not-allowed' });
  });
});

let authority: Authority;
beforeAll(async () => {
  authority = createAuthority('Bank CA');
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
