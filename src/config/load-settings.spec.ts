import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { forgetSecrets, loadSettings } from './load-settings.js';
import { SettingsInvalid } from './settings-error.js';

const FILE = {
  BANK_BASE_URL: 'https://from-file.bank.example',
  BANK_USERNAME: 'file-user',
  BANK_PASSWORD: 'file-password',
  BANK_PFX_FILE: '/from/file.pfx',
};

let before: string;
let directory: string;
beforeEach(() => {
  before = process.cwd();
  directory = mkdtempSync(join(tmpdir(), 'load-settings-'));
  process.chdir(directory);
});
afterEach(() => {
  process.chdir(before);
  rmSync(directory, { recursive: true });
  delete process.env['BANK_USERNAME'];
});

const writeEnv = (values: Record<string, string>) =>
  writeFileSync(
    '.env',
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );

describe('settings in .env', () => {
  it('are read', async () => {
    writeEnv(FILE);
    const { bank } = await loadSettings({ sandbox: false });
    expect([bank?.BANK_BASE_URL, bank?.BANK_PASSWORD.read()]).toEqual([FILE.BANK_BASE_URL, 'file-password']);
  });

  it('give way to the environment', async () => {
    writeEnv(FILE);
    process.env['BANK_USERNAME'] = 'environment-user';
    const { bank } = await loadSettings({ sandbox: false });
    expect(bank?.BANK_USERNAME.read()).toBe('environment-user');
  });

  it('do not reach the environment of the process, where children would inherit them', async () => {
    writeEnv(FILE);
    await loadSettings({ sandbox: false });
    expect(Object.keys(process.env).filter((name) => name.startsWith('BANK_'))).toEqual([]);
  });

  it('are warned of when one is given twice, of which the last counts', async () => {
    writeFileSync('.env', 'PORT=3001\nPORT=3002\n');
    const { common, warnings } = await loadSettings({ sandbox: true });
    expect([common.PORT, warnings]).toEqual([3002, ['PORT is set twice in .env; the last line counts']]);
  });

  it('that cannot be read are an error of the file, which is named with its place', async () => {
    mkdirSync('.env');
    await expect(loadSettings({ sandbox: true })).rejects.toMatchObject({
      name: 'SettingsInvalid',
      errors: [{ variable: '.env', problem: `in ${process.cwd()} is a directory, not a file` }],
    });
  });

  it('are read behind a byte order mark', async () => {
    writeFileSync('.env', '\ufeffPORT=3999\n', { mode: 0o600 });
    expect((await loadSettings({ sandbox: true })).common.PORT).toBe(3999);
  });

  it('that are wrong are reported with all errors', async () => {
    writeEnv({ ...FILE, BANK_BASE_URL: 'http://x', PORT: 'abc' });
    await expect(loadSettings({ sandbox: false })).rejects.toThrow(SettingsInvalid);
    await expect(loadSettings({ sandbox: false })).rejects.toMatchObject({
      errors: [{ variable: 'BANK_BASE_URL' }, { variable: 'PORT' }, { variable: 'BANK_PFX_FILE' }],
    });
  });
});

describe('secrets that were given directly', () => {
  it('are removed from the environment, and nothing else is', () => {
    const environment = {
      BANK_PASSWORD: 'p',
      BANK_PFX_PASSCODE: 'q',
      EGRESS_PROXY_URL: 'http://u:p@x',
      HTTPS_PROXY: 'http://u:p@x',
      http_proxy: 'http://x',
      PORT: '1',
      PATH: '/',
    };
    forgetSecrets(environment);
    expect(environment).toEqual({ http_proxy: 'http://x', PORT: '1', PATH: '/' });
  });
});
