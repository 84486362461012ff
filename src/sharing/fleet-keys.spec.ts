import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { IdentityMaterial } from '../auth/identity-material.js';
import { toFleetKeys } from './fleet-keys.js';

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const key = newKey();
const BANK = { BANK_BASE_URL: 'https://bank.example', BANK_AUTH_URL: 'https://auth.example' };

function material(change: Record<string, unknown> = {}): IdentityMaterial {
  const { keyPem = key.export({ format: 'pem', type: 'pkcs8' }), thumbprintSha256 = 'AB', ...rest } = change;
  const certificate = { keyPem, thumbprintSha256 };
  return { certificate, username: 'user', password: 'password', ca: null, ...rest } as unknown as IdentityMaterial;
}

describe('the keys of a fleet', () => {
  it('are the same for the same identity, in whatever form the key was kept', () => {
    const otherForm = createPrivateKey(key.export({ format: 'pem', type: 'sec1' }));
    const keyPem = otherForm.export({ format: 'pem', type: 'pkcs8' });
    expect(toFleetKeys(material({ keyPem }), BANK, null)).toEqual(toFleetKeys(material(), BANK, null));
  });

  it.each([
    ['address of the bank', material(), { ...BANK, BANK_BASE_URL: 'https://other.example' }],
    ['address of tokens', material(), { ...BANK, BANK_AUTH_URL: 'https://other.example' }],
    ['user', material({ username: 'other' }), BANK],
    ['password', material({ password: 'other' }), BANK],
    ['certificate', material({ thumbprintSha256: 'CD' }), BANK],
  ])('have another name with another %s', (_what, other, bank) => {
    const name = (ownKey: Buffer | null) => [
      toFleetKeys(material(), BANK, ownKey).name,
      toFleetKeys(other, bank, ownKey).name,
    ];
    const [mine, theirs] = name(null);
    expect(mine).not.toBe(theirs);
    const [withKey, theirsWithKey] = name(Buffer.alloc(32, 1));
    expect(withKey).not.toBe(theirsWithKey);
    expect(withKey).not.toBe(mine);
  });

  it('name nothing that they stand for, and the key id is no part of a key', () => {
    const { name, keyId, wrappingKey } = toFleetKeys(material(), BANK, null);
    expect(name).toMatch(/^[\w-]{22}$/);
    expect(wrappingKey.toString('hex')).not.toContain(keyId);
    expect(wrappingKey).toHaveLength(32);
  });

  it('come from the key of the operator where there is one, so that a renewed certificate can open what was kept', () => {
    const renewed = material({ keyPem: newKey().export({ format: 'pem', type: 'pkcs8' }), thumbprintSha256: 'CD' });
    const own = randomBytes(32);
    expect(toFleetKeys(renewed, BANK, own).wrappingKey).toEqual(toFleetKeys(material(), BANK, own).wrappingKey);
    expect(toFleetKeys(renewed, BANK, null).wrappingKey).not.toEqual(toFleetKeys(material(), BANK, null).wrappingKey);
  });
});
