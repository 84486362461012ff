import { beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeIdentity } from './identity-check.js';
import type { IdentityContent } from './identity-files.js';
import { loadIdentity } from './identity.js';

const NAMES = ['localhost', '127.0.0.1', '::1', 'bank.example'];
const DAY_MS = 86_400_000;

async function make(): Promise<IdentityContent> {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-identity-'));
  try {
    return await loadIdentity(directory, NAMES, false);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

describe('judgeIdentity', () => {
  let mine: IdentityContent;
  let other: IdentityContent;
  beforeAll(async () => {
    [mine, other] = await Promise.all([make(), make()]);
  });

  it('takes what was made, for all of its names or some', () => {
    expect(judgeIdentity(mine, NAMES)).toBe('valid');
    expect(judgeIdentity(mine, ['127.0.0.1'])).toBe('valid');
  });

  it('asks for a new server certificate when only that is wrong', () => {
    expect(judgeIdentity(mine, [...NAMES, 'other.example'])).toBe('server');
    expect(judgeIdentity(mine, ['127.0.0.2'])).toBe('server');
    expect(judgeIdentity({ ...mine, server: other.server }, NAMES)).toBe('server');
    expect(judgeIdentity({ ...mine, serverKey: other.serverKey }, NAMES)).toBe('server');
    expect(judgeIdentity({ ...mine, server: 'no certificate' }, NAMES)).toBe('server');
    expect(judgeIdentity({ ...mine, server: '' }, NAMES)).toBe('server');
  });

  it.each(['ca', 'caKey', 'pfx', 'passcode'] as const)('asks for a new identity when %s does not belong', (part) => {
    expect(judgeIdentity({ ...mine, [part]: other[part] }, NAMES)).toBe('all');
    expect(judgeIdentity({ ...mine, [part]: Buffer.from('noise') }, NAMES)).toBe('all');
    const { [part]: _gone, ...rest } = mine;
    expect(judgeIdentity(rest, NAMES)).toBe('all');
  });

  it('wants a day to spare', () => {
    expect(judgeIdentity(mine, NAMES, Date.now() + 363.9 * DAY_MS)).toBe('valid');
    expect(judgeIdentity(mine, NAMES, Date.now() + 364.1 * DAY_MS)).toBe('all');
    expect(judgeIdentity(mine, NAMES, Date.now() - 0.1 * DAY_MS)).toBe('all');
  });
});
