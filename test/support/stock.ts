import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKeyPair, toKeyPair, type KeyPair } from '../../src/sandbox/identity/key-pair.js';

let taken = 0;

/** A key pair that is no other's in this file: from the stock that the global setup made, and a new one when that is used up. */
export async function takeKeyPair(): Promise<KeyPair> {
  const pem = stockOfKeys()[taken++];
  return pem === undefined ? createKeyPair() : toKeyPair(pem);
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
  if (directory === undefined) throw new Error('there is no stock: is globalSetup set in jest.config.js?');
  return directory;
}
