import { beforeAll, describe, expect, it } from '@jest/globals';
import { canRenewClient, isValidIdentity } from './identity-check.js';
import type { IdentityContent } from './identity-files.js';
import { createIdentity } from './identity.js';

const DAY_MS = 86_400_000;

describe('isValidIdentity', () => {
  let mine: IdentityContent;
  let other: IdentityContent;
  beforeAll(async () => {
    [mine, other] = await Promise.all([createIdentity(), createIdentity()]);
  });

  it('is true for a new identity', () => {
    expect(isValidIdentity(mine)).toBe(true);
  });

  it.each(['ca', 'caKey', 'pfx', 'passcode'] as const)('is false when %s belongs to another identity', (part) => {
    expect(isValidIdentity({ ...mine, [part]: other[part] })).toBe(false);
  });

  it.each(['ca', 'caKey', 'serverKey', 'pfx'] as const)('is false when %s is missing or damaged', (part) => {
    expect(isValidIdentity({ ...mine, [part]: Buffer.from('noise') })).toBe(false);
    const { [part]: _gone, ...rest } = mine;
    expect(isValidIdentity(rest)).toBe(false);
  });

  it('only the client certificate can be renewed: if it is missing, damaged or from another identity', () => {
    const { pfx: _gone, ...rest } = mine;
    for (const pfx of [{}, { pfx: Buffer.from('noise') }, { pfx: other.pfx }]) {
      expect(canRenewClient({ ...rest, ...pfx })).toBe(true);
    }
    for (const part of ['ca', 'caKey', 'serverKey'] as const) {
      expect(canRenewClient({ ...mine, [part]: 'noise' })).toBe(false);
    }
    for (const part of ['passcode', 'username', 'password'] as const) {
      expect(canRenewClient({ ...mine, [part]: '' })).toBe(false);
    }
    expect(canRenewClient({ ...mine, ca: other.ca })).toBe(false);
  });

  it('requires more than a day of validity', () => {
    expect(isValidIdentity(mine, Date.now() + 363.9 * DAY_MS)).toBe(true);
    expect(isValidIdentity(mine, Date.now() + 364.1 * DAY_MS)).toBe(false);
    expect(isValidIdentity(mine, Date.now() - 0.1 * DAY_MS)).toBe(false);
  });
});
