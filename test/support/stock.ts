import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IdentityContent } from '../../src/sandbox/identity/identity-files.js';
import { toKeyPair, type KeyPair } from '../../src/sandbox/identity/key-pair.js';

interface Stock {
  readonly keys: readonly string[];
  readonly banks: readonly (Omit<IdentityContent, 'pfx'> & { readonly pfx: string })[];
}

let stock: Stock | undefined;
const taken = { keys: 0, banks: 0 };

/** The next key pair from the stock created by the global setup. The first 16 differ, then they repeat. */
export function takeKeyPair(): KeyPair {
  const { keys } = openStock();
  return toKeyPair(keys[taken.keys++ % keys.length] as string);
}

/** The next identity of a bank. The first 12 differ, then they repeat. */
export function takeIdentity(): IdentityContent {
  const { banks } = openStock();
  const bank = banks[taken.banks++ % banks.length] as Stock['banks'][number];
  return { ...bank, pfx: Buffer.from(bank.pfx, 'base64') };
}

/** Copies the shared sandbox identity for localhost and 127.0.0.1 into this directory. */
export function copySandboxIdentity(directory: string): void {
  cpSync(join(directoryOfStock(), 'sandbox'), directory, { recursive: true });
}

function openStock(): Stock {
  return (stock ??= JSON.parse(readFileSync(join(directoryOfStock(), 'stock.json'), 'utf8')) as Stock);
}

function directoryOfStock(): string {
  const directory = process.env['TEST_STOCK'];
  if (directory === undefined) throw new Error('there is no stock: see test/support/build-sources.ts');
  return directory;
}
