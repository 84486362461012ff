import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { readPfx } from '../../src/pfx/read-pfx.js';
import { startGateway } from '../support/gateway.js';
import { startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { until } from '../support/until.js';

type Issued = Awaited<ReturnType<PretendBank['issueClient']>>;

/** Writes certificate and key of a client as PEM files, each complete from its first moment; the key with a passphrase. */
function writePem({ directory }: PretendBank, { pfx, passcode }: Issued): Record<string, string> {
  const { keys, certificates } = readPfx(pfx, passcode);
  const key = keys[0]?.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'phrase' }) ?? '';
  const files = { BANK_CERT_FILE: join(directory, 'tls.crt'), BANK_KEY_FILE: join(directory, 'tls.key') };
  writeFileSync(`${files.BANK_KEY_FILE}.new`, key);
  writeFileSync(`${files.BANK_CERT_FILE}.new`, certificates.map(String).join(''));
  for (const file of Object.values(files)) renameSync(`${file}.new`, file);
  return { ...files, BANK_KEY_PASSPHRASE: 'phrase', BANK_PFX_FILE: '', BANK_PFX_PASSCODE_FILE: '' };
}

it('PEM files identify the gateway at the bank, and new ones take over while running', async () => {
  const bank = await startPretendBank();
  const first = await bank.issueClient('first');
  const gateway = await startGateway(bank, { ...writePem(bank, first), SNAPSHOT_FRESH_MS: '0' });
  expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  expect(bank.requests.map(({ thumbprint }) => thumbprint)).toEqual([first.thumbprint, first.thumbprint]);

  const second = await bank.issueClient('second');
  writePem(bank, second);
  await until(() => gateway.events('certificate.replaced').length === 1, 10_000);
  expect((await gateway.get('/api/v1/accounts', { 'cache-control': 'no-cache' })).status).toBe(200);
  expect(bank.requests.at(-1)).toMatchObject({ thumbprint: second.thumbprint });
});

it('a key of another certificate is refused, and the old pair stays', async () => {
  const bank = await startPretendBank();
  const first = await bank.issueClient('first');
  const files = writePem(bank, first);
  const gateway = await startGateway(bank, { ...files, SNAPSHOT_FRESH_MS: '0' });
  const { keys } = await bank.issueClient('other').then(({ pfx, passcode }) => readPfx(pfx, passcode));
  writeFileSync(files['BANK_KEY_FILE'] ?? '', keys[0]?.export({ type: 'pkcs8', format: 'pem' }) ?? '');
  await until(() => gateway.events('certificate.refused').length === 1, 10_000);
  expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  expect(bank.requests.at(-1)).toMatchObject({ thumbprint: first.thumbprint });
});
