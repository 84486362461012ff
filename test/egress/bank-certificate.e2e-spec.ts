import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from '@jest/globals';
import { type Authority, createAuthority, expired } from '../support/authority.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startRoute } from '../support/connect-proxy.js';
import { accountsAt, createEgress, failureOf } from '../support/egress.js';
import { startGateway } from '../support/gateway.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { start } from '../support/sandbox.js';
import { startTlsServer } from '../support/servers.js';

describe('only the true bank is trusted', () => {
  it('a server certificate that is not valid yet is bank-untrusted, and neither password nor token is ever sent', async () => {
    const [soon, later] = [1, 48].map((hours) => new Date(Date.now() + hours * 3_600_000)) as [Date, Date];
    const bank = await startPretendBank({ serverValidity: { notBefore: soon, notAfter: later } });
    const gateway = await startGateway(bank);
    const answer = await askInTime(gateway);
    expect(answer.json).toMatchObject({ status: 502, code: 'bank-untrusted', owner: 'operator' });
    expect(bank.requests).toEqual([]);
    expect(gateway.events('bank.unavailable')).toMatchObject([{ level: 'error', code: 'bank-untrusted' }]);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('a CA that only the PFX holds makes nobody trusted', async () => {
    // the sandbox's PFX holds its intermediate; its root signs the server
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { BANK_CA_FILE: '' });
    expect((await askInTime(gateway)).json.code).toBe('bank-untrusted');
    expect(sandbox.requests).toEqual([]);
  });

  it('the counterpart: several roots in the file, the right one among them', async () => {
    const [bank, other] = [await startPretendBank(), await startPretendBank()];
    const both = join(temporaryDirectory(), 'roots.pem');
    writeFileSync(both, readFileSync(other.files.ca, 'utf8') + readFileSync(bank.files.ca, 'utf8'));
    const gateway = await startGateway(bank, { BANK_CA_FILE: both });
    expect((await askInTime(gateway)).status).toBe(200);
  });
});

describe('an untrusted server', () => {
  let bankCa: Authority;
  beforeAll(async () => {
    bankCa = createAuthority('Bank CA');
  });

  describe.each([
    ['direct', 'TLSv1.3'],
    ['http proxy', 'TLSv1.2'],
  ] as const)('%s, %s', (route, version) => {
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
      const server =
        fault === 'self-signed' ? other.self : authority.server(names, ...(fault === 'expired' ? [expired()] : []));
      const reported: string[] = [];
      const { port } = await startTlsServer(
        { ...server, minVersion: version, maxVersion: version, requestCert: true, rejectUnauthorized: false },
        (socket) => socket.on('data', (data: Buffer) => reported.push(data.toString())),
      );
      const { key, cert } = bankCa.client('a client');
      // the roots that come along in a PFX are part of the chain, and no roots for the server
      const ca = fault === 'of a CA that is only in the PFX' ? null : bankCa.pem;
      const egress = createEgress({ key, cert: cert + bankCa.pem, ca }, (await startRoute(route)).settings);
      expect(await failureOf(egress.get(accountsAt(`https://localhost:${port}`)))).toMatchObject({
        code: 'bank-untrusted',
        status: 502,
        owner: 'operator',
        detail: expect.stringMatching(/not trusted \([A-Z_]+\)/),
      });
      expect(reported).toEqual([]);
    });
  });
});
