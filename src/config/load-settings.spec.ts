import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hasPrlimit, pathOf } from '../../test/support/tools.js';
import { forgetSecrets, loadSettings } from './load-settings.js';

const FILE = `BANK_BASE_URL=https://from-file.bank.example
BANK_USERNAME=file-user
BANK_PASSWORD=file-password
BANK_PFX_FILE=/from/file.pfx
OTEL_SERVICE_NAME=from-file
`;

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
  delete process.env['OTEL_SERVICE_NAME'];
});

describe('settings in .env', () => {
  it("apply if the environment does not set them, and only OpenTelemetry's are copied to it", () => {
    writeFileSync('.env', FILE);
    process.env['BANK_USERNAME'] = 'environment-user';
    const { settings } = loadSettings(process.env, { sandbox: false });
    expect(settings.BANK_BASE_URL).toBe('https://from-file.bank.example');
    expect(settings.BANK_USERNAME?.read()).toBe('environment-user');
    expect(settings.BANK_PASSWORD?.read()).toBe('file-password');
    expect(
      Object.keys(process.env)
        .filter((name) => /^(BANK|OTEL)_/.test(name))
        .sort(),
    ).toEqual(['BANK_USERNAME', 'OTEL_SERVICE_NAME']);
  });

  it('apply if the environment sets them to nothing', () => {
    writeFileSync('.env', FILE);
    process.env['BANK_USERNAME'] = process.env['OTEL_SERVICE_NAME'] = '';
    const { settings } = loadSettings(process.env, { sandbox: false });
    expect(settings.BANK_USERNAME?.read()).toBe('file-user');
    expect(process.env['OTEL_SERVICE_NAME']).toBe('from-file');
  });

  it.each<[string, string | Buffer]>([
    ['a byte order mark precedes them', '\ufeffPORT=3002\n'],
    ['they are in UTF-16', Buffer.from('\ufeffPORT=3002\r\n', 'utf16le')],
  ])('apply if %s', (_name, text) => {
    writeFileSync('.env', text);
    const { settings, warnings } = loadSettings(process.env, { sandbox: true });
    expect([settings.PORT, warnings]).toEqual([3002, []]);
  });

  it.each<[string, () => void, string]>([
    ['a directory', () => mkdirSync('.env'), 'is a directory, not a file'],
    ['a FIFO', () => void execFileSync('mkfifo', ['.env']), 'is not a regular file'],
    ['too large', () => writeFileSync('.env', Buffer.alloc(2 ** 21)), 'is larger than 1048576 bytes'],
  ])('cause an error that names the working directory if the file is %s', (_what, create, reason) => {
    create();
    expect(() => loadSettings(process.env, { sandbox: true })).toThrow(
      expect.objectContaining({
        name: 'SettingsInvalid',
        errors: [{ variable: '.env', problem: `in ${process.cwd()} ${reason}`, example: 'mv .env old.env' }],
      }),
    );
  });

  it('lead to warnings that are reported even if there are errors', () => {
    writeFileSync('.env', `${FILE}BANK_PASSWORD=hun#ter2\nPORT=abc\n`);
    expect(() => loadSettings(process.env, { sandbox: false })).toThrow(
      expect.objectContaining({
        errors: expect.arrayContaining([expect.objectContaining({ variable: 'PORT' })]),
        warnings: [
          expect.stringMatching(/^BANK_PASSWORD is set twice/),
          expect.stringMatching(/BANK_PASSWORD .* single quotes/),
        ],
      }),
    );
  });
});

(hasPrlimit() ? it : it.skip)('a limit below 256 open files is a warning', () => {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files: { soft: number | string } } };
  const warningsAt = (soft: number | string | undefined) => {
    spawnSync(pathOf('prlimit'), ['--pid', String(process.pid), `--nofile=${soft}:`]);
    return loadSettings(process.env, { sandbox: true }).warnings;
  };
  try {
    expect(warningsAt(255)).toEqual([expect.stringContaining('only 255 files (RLIMIT_NOFILE)')]);
    expect(warningsAt(256)).toEqual([]);
  } finally {
    warningsAt(userLimits?.open_files.soft);
  }
});

it('only secrets are removed from the environment', () => {
  const environment = {
    BANK_PASSWORD: 'p',
    BANK_PFX_PASSCODE: 'q',
    EGRESS_PROXY_URL: 'http://u:p@x',
    HTTPS_PROXY: 'http://u:p@x',
    http_proxy: 'http://x',
    OTEL_EXPORTER_OTLP_HEADERS: 'key=secret',
    PORT: '1',
    PATH: '/',
  };
  forgetSecrets(environment);
  expect(environment).toEqual({ http_proxy: 'http://x', PORT: '1', PATH: '/' });
});
