import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';
import { temporaryDirectory } from '../../test/support/closing.js';
import type { Settings } from '../config/settings.js';
import { readIdentityMaterial } from './identity-material.js';

const SECRET = { file: null, read: () => '' };
const read = (file: string) => {
  const secrets = { BANK_USERNAME: SECRET, BANK_PASSWORD: SECRET, BANK_PFX_PASSCODE: SECRET };
  return readIdentityMaterial({ BANK_PFX_FILE: file, ...secrets } as Partial<Settings> as Settings, new Date());
};

it('for a file that this process may not read, the problem is about owner and mode', async () => {
  const file = join(temporaryDirectory(), 'client.pfx');
  writeFileSync(file, 'x');
  chmodSync(dirname(file), 0o755);
  chmodSync(file, process.geteuid?.() === 0 ? 0o600 : 0o000);
  const isRoot = process.geteuid?.() === 0;
  // root can read every file
  if (isRoot) process.seteuid?.(65_534);
  try {
    await expect(read(file)).rejects.toMatchObject({
      problem: expect.stringMatching(/user \d+\); check owner and mode of the file/),
    });
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

it('for a file that does not exist, the remedy is another path', async () => {
  await expect(read('/nowhere/client.pfx')).rejects.toMatchObject({
    remedy: expect.stringMatching(/^Use the path of/),
  });
});

it.each([
  ['certs/client.pfx', / is a relative path, from \//],
  ['~/client.pfx', / contains ~, \$ or %/],
  ['"/run/client.pfx"', / begins and ends with a quote/],
])('%s is no path as it stands, and the error says why', async (path, reason) => {
  await expect(read(path)).rejects.toMatchObject({ problem: expect.stringMatching(reason) });
});

it('a PFX in the environment is not called a file', async () => {
  const secret = (text: string) => ({ file: null, read: () => text });
  const settings = { BANK_PFX_BASE64: secret('hello'), BANK_PFX_PASSCODE: secret(''), BANK_USERNAME: secret('u') };
  await expect(
    readIdentityMaterial({ ...settings, BANK_PASSWORD: secret('p') } as unknown as Settings, new Date()),
  ).rejects.toMatchObject({
    problem: 'BANK_PFX_BASE64 is text of an unknown kind, not a PFX.',
    remedy: expect.stringMatching(/^Use the \.pfx or \.p12 file as it was exported/),
  });
});

it('a missing file with the base64 PFX is reported by its variable', async () => {
  const file = { file: '/nowhere/client.b64', read: () => '' };
  const settings = { BANK_PFX_BASE64: file, BANK_PFX_PASSCODE: SECRET, BANK_USERNAME: SECRET, BANK_PASSWORD: SECRET };
  await expect(readIdentityMaterial(settings as Partial<Settings> as Settings, new Date())).rejects.toMatchObject({
    problem: expect.stringMatching(/^BANK_PFX_BASE64_FILE points to/),
  });
});
