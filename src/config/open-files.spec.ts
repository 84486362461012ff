import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { openFiles } from './open-files.js';

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function fileOfMode(mode: number): string {
  const directory = mkdtempSync(join(tmpdir(), 'open-files-'));
  directories.push(directory);
  const file = join(directory, 'secret');
  writeFileSync(file, 'secret-value');
  chmodSync(file, mode);
  return file;
}

describe('files with secrets in them', () => {
  it.each(['BANK_PASSWORD_FILE', 'BANK_PFX_PASSCODE_FILE', 'BANK_PFX_FILE', 'EGRESS_PROXY_URL_FILE'])(
    '%s that everybody may read is warned of, without its content',
    (name) => {
      const file = fileOfMode(0o644);
      const warnings = openFiles({ [name]: file });
      expect(warnings).toEqual([expect.stringContaining(`${name} names ${file}`)]);
      expect(warnings[0]).not.toContain('secret-value');
    },
  );

  it.each([0o600, 0o400, 0o640])('of mode %o are not', (mode) => {
    expect(openFiles({ BANK_PASSWORD_FILE: fileOfMode(mode) })).toEqual([]);
  });

  it('that hold no secret, or do not exist, are not', () => {
    expect(openFiles({ BANK_CA_FILE: fileOfMode(0o644), BANK_PASSWORD_FILE: '/nowhere/at/all' })).toEqual([]);
  });
});
