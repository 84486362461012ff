import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toKeyPair, type KeyPair } from '../../src/sandbox/identity/key-pair.js';

let taken = 0;

/** The next key pair of the stock that the global setup made. They come round again: 16 in a row differ. */
export function takeKeyPair(): KeyPair {
  const pems = stockOfKeys();
  return toKeyPair(pems[taken++ % pems.length] as string);
}

let keys: readonly string[] | undefined;

function stockOfKeys(): readonly string[] {
  return (keys ??= JSON.parse(readFileSync(join(stock(), 'keys.json'), 'utf8')) as string[]);
}

/** Puts the identity of a sandbox at localhost and 127.0.0.1 into this directory; each has the same. */
export function copySandboxIdentity(directory: string): void {
  cpSync(join(stock(), 'sandbox'), directory, { recursive: true });
}

function stock(): string {
  const directory = process.env['TEST_STOCK'];
  if (directory === undefined) throw new Error('there is no stock: see test/support/build-sources.ts');
  return directory;
}
