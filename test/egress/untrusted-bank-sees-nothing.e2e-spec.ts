import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Authority, createAuthority, expired } from '../support/authority.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf } from '../support/egress.js';
import { startTlsServer } from '../support/servers.js';

let bankCa: Authority;
beforeAll(async () => {
  bankCa = createAuthority('Bank CA');
});

describe.each(['direct', 'proxy'] as const)('%s', (route) => {
  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('%s', (version) => {
    test.each([
      'expired',
      'for another name',
      'self-signed',
      'of another authority',
      'of a CA that is only in the PFX',
    ])('a server certificate that is %s', async (fault) => {
      const other = createAuthority('Other CA');
      const authority = fault === 'of another authority' ? other : bankCa;
      const names = fault === 'for another name' ? ['bank.example'] : ['localhost'];
      const told: string[] = [];
      const server = await startTlsServer(
        {
          ...(fault === 'self-signed'
            ? other.self
            : authority.server(names, ...(fault === 'expired' ? [expired()] : []))),
          minVersion: version,
          maxVersion: version,
          requestCert: true,
          rejectUnauthorized: false,
        },
        (socket) => socket.on('data', (data: Buffer) => told.push(data.toString())),
      );
      const client = bankCa.client('a client');
      const egress = createEgress(
        // the roots that come along in a PFX are part of the chain, and no roots for the server
        {
          key: client.key,
          cert: client.cert + bankCa.pem,
          ca: fault === 'of a CA that is only in the PFX' ? null : bankCa.pem,
        },
        { EGRESS_PROXY_URL: route === 'proxy' ? (await startConnectProxy()).url : null },
      );
      expect(await failureOf(egress.get(accountsAt(`https://localhost:${server.port}`)))).toMatchObject({
        code: 'bank-untrusted',
        status: 502,
        owner: 'operator',
        detail: expect.stringMatching(/not trusted \([A-Z_]+\)/),
      });
      expect(told).toEqual([]);
    });
  });
});
