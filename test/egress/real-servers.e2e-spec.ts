import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toAnswerError } from '../../src/egress/answer-error.js';
import { createAuthority, expired } from '../support/authority.js';
import { FRONTS, hasFront, startFront, type FrontName } from '../support/bank-fronts.js';
import { accountsAt, createEgress, type ClientIdentity } from '../support/egress.js';
import { closedPort } from '../support/servers.js';

// Third-party servers in front of the bank: how each reports a cause, and what the gateway concludes.

const bankCa = createAuthority('Bank CA');
const otherCa = createAuthority('Another CA');
const server = bankCa.server(['localhost']);

/** The server behind those that do not respond themselves. */
const behind = createServer((_request, response) => void response.end('{}'));
let backend: number;
const start = () => new Promise<void>((resolve) => behind.listen(backend, '127.0.0.1', resolve));
const stop = () => {
  behind.closeAllConnections();
  return new Promise((resolve) => behind.close(resolve));
};
beforeAll(async () => {
  backend = await closedPort();
  await start();
});
afterAll(stop);

async function judge(port: number, identity: Omit<ClientIdentity, 'ca'>) {
  const egress = createEgress({ ...identity, ca: bankCa.pem });
  try {
    const answer = await egress.get(accountsAt(`https://localhost:${port}`));
    // gnutls-serv and openssl respond with a page
    const error = answer.status === 200 ? null : toAnswerError(answer, 'accounts');
    return error ?? { code: 'answered', owner: '', detail: String(answer.status) };
  } catch (error) {
    return error as { code: string; owner: string; detail: string };
  }
}

const CLIENTS: readonly (readonly [string, () => ReturnType<typeof bankCa.client>, string])[] = [
  ['a certificate that it knows', () => bankCa.client('known'), 'answered'],
  ['a certificate of another CA', () => otherCa.client('stranger'), 'certificate-rejected'],
  ['an expired certificate', () => bankCa.client('late', expired()), 'certificate-rejected'],
];

for (const name of Object.keys(FRONTS) as FrontName[]) {
  (hasFront(name) ? describe : describe.skip)(name, () => {
    describe.each(['TLS 1.2', 'TLS 1.3'] as const)('%s', (limit) => {
      let port: number;
      beforeAll(async () => {
        port = await startFront(name, server, bankCa.pem, { backend, limit });
      });
      test.each(CLIENTS)('%s', async (_what, identity, code) => {
        const found = await judge(port, identity());
        expect([found.code, found.owner, found.detail]).toEqual([
          code,
          code === 'answered' ? '' : 'operator',
          expect.stringMatching(/^200$|\(TLS alert \d+\)|with a page|two connections in a row/),
        ]);
        // nothing that is the case already is advised
        if (limit === 'TLS 1.2') expect(found.detail).not.toContain('BANK_TLS_MAX_VERSION');
      });
    });
  });
}

for (const name of ['gnutls', 'openssl'] as const) {
  (hasFront(name) ? test : test.skip)(`${name} that speaks TLS 1.1 only is bank-untrusted, in words`, async () => {
    const port = await startFront(name, server, bankCa.pem, { limit: 'TLS 1.1' });
    expect(await judge(port, bankCa.client('known'))).toMatchObject({
      code: 'bank-untrusted',
      owner: 'operator',
      detail: expect.stringMatching(/no common TLS version.*\((TLS alert 70|unsupported protocol)\)/),
    });
  });
}

for (const name of ['haproxy (TCP)', 'stunnel'] as const) {
  (hasFront(name) ? test : test.skip)(
    `${name} whose bank is away: unreachable, and healed at once when it is back`,
    async () => {
      const port = await startFront(name, server, bankCa.pem, { backend });
      const egress = createEgress({ ...bankCa.client('known'), ca: bankCa.pem });
      const call = () => egress.get(accountsAt(`https://localhost:${port}`));
      expect((await call()).status).toBe(200);
      await stop();
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await expect(call()).rejects.toMatchObject({ code: 'bank-unreachable', owner: 'network' });
      }
      // cold, too: a close after the handshake of TLS 1.3 could also be a rejection, which TLS 1.2 shows
      const cold = (identity: Omit<ClientIdentity, 'ca'>) => judge(port, identity);
      expect(await cold(bankCa.client('new'))).toMatchObject({ code: 'bank-unreachable', owner: 'network' });
      expect(await cold(otherCa.client('stranger'))).toMatchObject({ code: 'certificate-rejected' });
      await start();
      expect((await call()).status).toBe(200);
    },
  );
}
