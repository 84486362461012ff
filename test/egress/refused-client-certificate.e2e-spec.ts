import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { insistingOn, startOpensslServer } from '../support/openssl-server.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { siblingCertificate, start } from '../support/sandbox.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { startPretendBank } from '../support/pretend-bank.js';

/** OpenSSL's own server in place of this sandbox, which sends real alerts and trusts the clients of `clientCa`. */
async function startOpenssl(
  { directory }: Sandbox,
  clientCa: string,
  ...more: string[]
): Promise<Record<string, string>> {
  const [cert = '', key = ''] = ['server.pem', 'server-key.pem'].map((name) =>
    readFileSync(join(directory, name), 'utf8'),
  );
  const { port } = await startOpensslServer({ cert, key }, ['-www', ...insistingOn(clientCa), ...more]);
  const url = `https://127.0.0.1:${port}`;
  return { BANK_BASE_URL: url, BANK_AUTH_URL: url };
}

describe('a refused client certificate is told as such', () => {
  it.each([
    ['TLS 1.2, within the handshake', ['-tls1_2']],
    ['TLS 1.3, after it', ['-tls1_3']],
  ])('by an alert: %s', async (_name, more) => {
    const [sandbox, other] = [await start(), await start({ directory: temporaryDirectory() })];
    const gateway = await startGateway(sandbox, await startOpenssl(sandbox, other.files.ca, ...more));
    const answer = await askInTime(gateway);
    expect(answer.json).toMatchObject({ status: 502, code: 'certificate-rejected', owner: 'operator' });
    expect(answer.json.detail).toMatch(/alert (48|42|46)/);
    expect(gateway.events('bank.unavailable')).toMatchObject([{ level: 'error', code: 'certificate-rejected' }]);
  });

  it('its twin: the same server with the right CA lets us through to its answer', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, await startOpenssl(sandbox, sandbox.files.ca));
    // -www answers 200 with a page of its own
    expect((await askInTime(gateway)).json).toMatchObject({ status: 502, code: 'bank-response-invalid' });
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'by a connection closed before any answer (%s), naming the chain and the allowlist; then slowly again',
    async (version) => {
      const [bank, other] = [await startPretendBank({ server: { maxVersion: version } }), await startPretendBank()];
      const ca = readFileSync(other.files.ca);
      bank.onToken = ({ socket }) => void socket.destroy();
      const refusing = await startPretendBank({ server: { ca, maxVersion: version } });
      const clock = new MovedClock();
      const gateway = await startGateway(refusing, {}, clock);
      const answer = await askInTime(gateway);
      expect(answer.json).toMatchObject({ status: 502, code: 'certificate-rejected', owner: 'operator' });
      expect(refusing.requests).toEqual([]);
      clock.advance(29_000);
      expect((await gateway.get('/health')).json.details.token).toMatchObject({ state: 'waiting' });
      await expectCommonConditions(refusing, gateway, [answer]);

      const closing = await startGateway(bank);
      const closed = await askInTime(closing);
      expect(closed.json).toMatchObject({ status: 502, code: 'certificate-rejected' });
      expect(closed.json.detail).toMatch(/chain/);
      expect(closed.json.detail).toMatch(/allowlist/);
      await expectCommonConditions(bank, closing, [closed]);
    },
  );

  it('once it was answered, a closed connection is bank-unreachable', async () => {
    const bank = await startPretendBank();
    const clock = new MovedClock();
    const gateway = await startGateway(bank, {}, clock);
    expect((await askInTime(gateway)).status).toBe(200);
    bank.onAccounts = ({ socket }) => void socket.destroy();
    for (const socket of bank.sockets) socket.destroy();
    clock.advance(20_000);
    const answer = await askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
    expect(answer.json).toMatchObject({ status: 503, code: 'bank-unreachable', owner: 'network' });
  });

  it("a token is refused with another certificate than its own, and another's password with ours", async () => {
    const sandbox = await start();
    const { pfx, passphrase } = (await siblingCertificate(sandbox)) as { pfx: Buffer; passphrase: string };
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'sibling.pfx'), pfx);
    writeFileSync(join(directory, 'passcode'), passphrase);
    const sibling = {
      BANK_PFX_FILE: join(directory, 'sibling.pfx'),
      BANK_PFX_PASSCODE_FILE: join(directory, 'passcode'),
    };
    // the sandbox knows the CA, so it answers; what it thinks of the holder is its matter
    const gateway = await startGateway(sandbox, sibling);
    expect((await askInTime(gateway)).status).toBe(200);
    const wrong = await startGateway(sandbox, { BANK_PASSWORD_FILE: join(directory, 'passcode') });
    expect((await askInTime(wrong)).json).toMatchObject({ code: 'credentials-rejected', owner: 'operator' });
  });
});
