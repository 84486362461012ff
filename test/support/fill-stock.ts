// Runs once before the tests. Creates keys and identities, which is slow, unless those of an earlier run will do.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createIdentity, loadIdentity } from '../../src/sandbox/identity/identity.js';

const [KEYS, BANKS] = [16, 12];
const HALF_A_DAY_MS = 43_200_000;
const stock = process.env['TEST_STOCK'] as string;

mkdirSync(stock, { recursive: true });
const file = join(stock, 'stock.json');
const filledAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (Date.now() - filledAt > HALF_A_DAY_MS) {
  const keys = Array.from({ length: KEYS }, () =>
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  );
  const banks = await Promise.all(Array.from({ length: BANKS }, () => createIdentity({ secrets: createSecrets() })));
  const text = JSON.stringify({ keys, banks: banks.map((bank) => ({ ...bank, pfx: bank.pfx.toString('base64') })) });
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}
await loadIdentity(join(stock, 'sandbox'), false);

/** Secrets that are recognizable in any output. */
function createSecrets() {
  const secret = (what: string) => `secret-${what}-${randomBytes(6).toString('hex')}`;
  return { username: secret('user'), password: secret('password'), passcode: secret('passcode') };
}
