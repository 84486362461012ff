import { createHash, createPrivateKey, hkdfSync, webcrypto } from 'node:crypto';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Settings } from '../config/settings.js';
import { FORM_VERSION } from '../snapshot/sections.js';

/** Instances with the same bank addresses, user, key and form of snapshots: only they open what one of them sealed. */
export interface Group {
  /** Id of the key: 16 hex digits, part of the names in Redis. Reveals nothing about the key. */
  readonly keyId: string;
  readonly key: webcrypto.CryptoKey;
  /** SHA-256 of the bank's addresses. */
  readonly addresses: Buffer;
}

type Addresses = Pick<Settings, 'BANK_BASE_URL' | 'BANK_AUTH_URL'>;

/**
 * The group of an identity, derived by HKDF (RFC 5869) from `ownKey`, or else from the private key as PKCS#8 DER, which is the
 * same in whatever form the key was kept.
 */
export async function toGroup(
  { certificate, username }: IdentityMaterial,
  { BANK_BASE_URL, BANK_AUTH_URL }: Addresses,
  ownKey: Buffer | null,
): Promise<Group> {
  const secret = ownKey ?? createPrivateKey(certificate.keyPem).export({ format: 'der', type: 'pkcs8' });
  const addresses = [BANK_BASE_URL, BANK_AUTH_URL];
  const derive = (purpose: string, bytes: number) => {
    const info = createHash('sha256')
      .update(JSON.stringify([purpose, ...addresses, username, FORM_VERSION]))
      .digest();
    return Buffer.from(hkdfSync('sha256', secret, 'accounts-gateway', info, bytes));
  };
  return {
    keyId: derive('key id', 8).toString('hex'),
    key: await webcrypto.subtle.importKey('raw', derive('key', 32), 'AES-GCM', false, ['encrypt', 'decrypt']),
    addresses: createHash('sha256').update(JSON.stringify(addresses)).digest(),
  };
}
