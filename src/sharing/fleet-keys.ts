import { createHmac, createPrivateKey, hkdfSync } from 'node:crypto';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Settings } from '../config/settings.js';

/** What instances of one fleet have in common, and nobody else has. */
export interface FleetKeys {
  /** Stands for addresses, user, password and certificate in the names of keys; tells nothing of them. */
  readonly name: string;
  /** Tells which key something was sealed with; no secret. */
  readonly keyId: string;
  readonly wrappingKey: Buffer;
  /** What is sealed counts for these alone: addresses and user. */
  readonly context: readonly string[];
}

/**
 * The keys of those that use this identity at this bank. They come by HKDF (RFC 5869) from `ownKey`, or else from the
 * private key in its PKCS#8 form, which is the same whatever file it came from. Never from a signature: those are not.
 */
export function toFleetKeys(
  material: IdentityMaterial,
  bank: Pick<Settings, 'BANK_BASE_URL' | 'BANK_AUTH_URL'>,
  ownKey: Buffer | null,
): FleetKeys {
  const { certificate, username, password } = material;
  const secret = ownKey ?? createPrivateKey(certificate.keyPem).export({ format: 'der', type: 'pkcs8' });
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', `accounts-gateway ${purpose}`, 32));
  const context = [bank.BANK_BASE_URL, bank.BANK_AUTH_URL, username];
  const members = JSON.stringify([...context, password, certificate.thumbprintSha256]);
  return {
    name: createHmac('sha256', derive('fleet name')).update(members).digest('base64url').slice(0, 22),
    keyId: derive('key id').toString('hex').slice(0, 16),
    wrappingKey: derive('wrapping'),
    context,
  };
}
