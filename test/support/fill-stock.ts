// Run once before the tests: creates what takes long to create and is not the subject of most tests, kept for all runs.
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadIdentity } from '../../src/sandbox/identity/identity.js';

const KEYS = 16;
const stock = process.env['TEST_STOCK'] as string;

mkdirSync(stock, { recursive: true });
const file = join(stock, 'keys.json');
if (!existsSync(file)) {
  const keys = Array.from({ length: KEYS }, () =>
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  );
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(keys));
  renameSync(`${file}.${process.pid}`, file);
}
await loadIdentity(join(stock, 'sandbox'), false);
