import { createPrivateKey, hash, hkdfSync, webcrypto } from 'node:crypto';
import { z } from 'zod';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Settings } from '../config/settings.js';
import { accountSchema } from '../list/account-schema.js';

/** Bytes: magic and version 4, key id 8, asOf 8, duration 8, hash of the addresses 32, complete 1. All of it is authenticated. */
const FACTS_BYTES = 61;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Part of the key: a copy with another form of accounts belongs to another group. Descriptions do not count. */
const ACCOUNT_FORM = JSON.stringify(z.toJSONSchema(accountSchema), (key, value: unknown) => {
  const isWords = key === 'example' || (key === 'description' && typeof value === 'string');
  return isWords ? undefined : value;
});
const COMPLETE = [null, false, true] as const;
const MAGIC = Buffer.from('AGS\u0002', 'latin1');

export const HEADER_BYTES = FACTS_BYTES + IV_BYTES;
export const OVERHEAD_BYTES = HEADER_BYTES + TAG_BYTES;

/** Instances with the same bank addresses, user, key and form of an account: only they can open each other's copies. */
export interface Group {
  /** 16 hex digits, part of the names in Redis. Reveals nothing about the key. */
  readonly keyId: string;
  readonly key: webcrypto.CryptoKey;
  readonly addresses: Buffer;
}

/**
 * The group of an identity, derived by HKDF (RFC 5869) from `ownKey`, or else from the private key as PKCS#8 DER, so that
 * the file format of the key does not matter.
 */
export async function toGroup(
  { certificate, username }: IdentityMaterial,
  { BANK_BASE_URL, BANK_AUTH_URL }: Pick<Settings, 'BANK_BASE_URL' | 'BANK_AUTH_URL'>,
  ownKey: Buffer | null,
): Promise<Group> {
  const secret = ownKey ?? createPrivateKey(certificate.keyPem).export({ format: 'der', type: 'pkcs8' });
  const addresses = [BANK_BASE_URL, BANK_AUTH_URL];
  const derive = (purpose: string, bytes: number) => {
    const info = hash('sha256', JSON.stringify([purpose, ...addresses, username, ACCOUNT_FORM]), 'buffer');
    return Buffer.from(hkdfSync('sha256', secret, 'accounts-gateway', info, bytes));
  };
  return {
    keyId: derive('key id', 8).toString('hex'),
    key: await webcrypto.subtle.importKey('raw', derive('key', 32), 'AES-GCM', false, ['encrypt', 'decrypt']),
    addresses: hash('sha256', JSON.stringify(addresses), 'buffer'),
  };
}

export interface Opened {
  /** The accounts as JSON in UTF-8. */
  readonly json: Uint8Array<ArrayBuffer>;
  /** From an unencrypted header; trusted only after the whole copy has been opened. */
  readonly facts: {
    /** When the bank was asked, ms since 1970, by the clock of Redis; in a file, by the machine's clock. */
    readonly asOfMs: number;
    readonly durationMs: number;
    /** True if the bank's own count matched; null without a count. */
    readonly complete: boolean | null;
  };
}

export class CopyRejected extends Error {
  constructor(
    readonly reason: 'damaged' | 'foreign' | 'too-large' | 'too-old' | 'unreadable',
    options?: ErrorOptions,
  ) {
    super(`a stored copy was rejected: ${reason}`, options);
  }
}

/** Encrypts a list with AES-256-GCM, in Node's thread pool. A random IV is safe for 2^32 lists per key. */
export async function seal({ json, facts }: Opened, group: Group): Promise<Buffer> {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.write(group.keyId, 4, 'hex');
  header.writeDoubleBE(facts.asOfMs, 12);
  header.writeDoubleBE(facts.durationMs, 20);
  group.addresses.copy(header, 28);
  header.writeUInt8(COMPLETE.indexOf(facts.complete), 60);
  webcrypto.getRandomValues(header.subarray(FACTS_BYTES));
  const content = await webcrypto.subtle.encrypt(toAlgorithm(header), group.key, json);
  return Buffer.concat([header, Buffer.from(content)]);
}

/** Its facts are not authenticated yet. @throws CopyRejected */
export function readHeader(sealed: Buffer, group: Group): Opened['facts'] {
  if (sealed.length < HEADER_BYTES || !MAGIC.equals(sealed.subarray(0, 4))) throw new CopyRejected('damaged');
  const isOurs = sealed.toString('hex', 4, 12) === group.keyId && group.addresses.equals(sealed.subarray(28, 60));
  if (!isOurs) throw new CopyRejected('foreign');
  const complete = COMPLETE[sealed.readUInt8(60)] ?? null;
  return { asOfMs: sealed.readDoubleBE(12), durationMs: sealed.readDoubleBE(20), complete };
}

/** Decrypts a list, in Node's thread pool. @throws CopyRejected */
export async function open(sealed: Buffer, group: Group): Promise<Opened> {
  const facts = readHeader(sealed, group);
  try {
    const content = sealed.subarray(HEADER_BYTES);
    return { json: new Uint8Array(await webcrypto.subtle.decrypt(toAlgorithm(sealed), group.key, content)), facts };
  } catch (error) {
    throw new CopyRejected('damaged', { cause: error });
  }
}

function toAlgorithm(header: Buffer): webcrypto.AesGcmParams {
  return {
    name: 'AES-GCM',
    additionalData: header.subarray(0, FACTS_BYTES),
    iv: header.subarray(FACTS_BYTES, HEADER_BYTES),
    tagLength: TAG_BYTES * 8,
  };
}
