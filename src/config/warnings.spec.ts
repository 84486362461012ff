import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { KNOWN_NAMES } from './settings-schema.js';
import { markedFiles, openFiles, unknownNames } from './warnings.js';

describe('a variable that is not a setting', () => {
  it.each([
    ['BANK_BASE_URI', 'BANK_BASE_URL'],
    ['BANK_PASWORD', 'BANK_PASSWORD'],
    ['BANK_PFX_PASSCODE_FIEL', 'BANK_PFX_PASSCODE_FILE'],
    ['SNAPSHOT_FRESH', 'SNAPSHOT_FRESH_MS'],
    ['EGRESS_PROXY_URI', 'EGRESS_PROXY_URL'],
    ['CORS_ORIGIN', 'CORS_ORIGINS'],
    ['ALLOWED_HOST', 'ALLOWED_HOSTS'],
    ['TLS_CERT', 'TLS_CERT_FILE'],
    ['LOG_LEVELS', 'LOG_LEVEL'],
    ['bank_username', 'BANK_USERNAME'],
    ['BNAK_USERNAME', 'BANK_USERNAME'],
    ['EGRESS_PROXY', 'EGRESS_PROXY_URL'],
    ['BANK_PFX', 'BANK_PFX_FILE'],
    ['PROT', 'PORT'],
    ['PORTS', 'PORT'],
    ['port', 'PORT'],
    ['HOTS', 'HOST'],
    ['HSOT', 'HOST'],
  ])('%s is named together with %s', (name, nearest) => {
    expect(unknownNames({ [name]: 'x' })).toEqual([
      `${name} is not a setting and is ignored; did you mean ${nearest}?`,
    ]);
  });

  it('is named without its value, which may be a misspelt secret', () => {
    expect(unknownNames({ BANK_PASSWORT: 'hunter2' }).join()).not.toContain('hunter2');
  });

  it.each([
    'PATH',
    'HOME',
    'HOSTNAME',
    'HOSTTYPE',
    'SHELL',
    'PWD',
    'TERM',
    'USER',
    'TZ',
    'NODE_ENV',
    'npm_config_cache',
    'HTTPS_PROXY',
    'LANG',
    'TLSCERT',
    'TMPDIR',
    'SHLVL',
    'EDITOR',
    'DISPLAY',
    'KUBERNETES_PORT',
    'REDIS_HOST',
    'REDIS_PORT',
    'REDIS_SERVICE_PORT',
    'REDIS_PORT_6379_TCP_ADDR',
  ])('%s belongs to something else, and causes no warning', (name) => {
    expect(unknownNames({ [name]: 'x' })).toEqual([]);
  });

  it('no setting of the gateway is called unknown', () => {
    expect(unknownNames(Object.fromEntries(KNOWN_NAMES.map((name) => [name, 'x'])))).toEqual([]);
  });
});

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function fileOfMode(mode: number, content = 'secret-value'): string {
  const directory = mkdtempSync(join(tmpdir(), 'open-files-'));
  directories.push(directory);
  const file = join(directory, 'secret');
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

describe('files with secrets in them', () => {
  it.each([
    'BANK_PASSWORD_FILE',
    'BANK_PFX_PASSCODE_FILE',
    'BANK_PFX_FILE',
    'EGRESS_PROXY_URL_FILE',
    'SNAPSHOT_KEY_FILE',
    'TLS_KEY_FILE',
  ])('%s that everybody may read is warned of, without its content', (name) => {
    const file = fileOfMode(0o644);
    const warnings = openFiles({ [name]: file });
    expect(warnings).toEqual([expect.stringContaining(`${name} names ${file}`)]);
    expect(warnings[0]).not.toContain('secret-value');
  });

  it.each([0o600, 0o400, 0o640])('of mode %o are not', (mode) => {
    expect(openFiles({ BANK_PASSWORD_FILE: fileOfMode(mode) })).toEqual([]);
  });

  it('that hold no secret, or do not exist, are not', () => {
    expect(openFiles({ BANK_CA_FILE: fileOfMode(0o644), BANK_PASSWORD_FILE: '/nowhere/at/all' })).toEqual([]);
  });

  it('count for .env too, when it holds secrets', () => {
    const file = fileOfMode(0o644, 'PORT=1\nBANK_PASSWORD=secret-value\n');
    expect(openFiles({}, file)).toEqual([
      `${file} holds secrets, and every user of this machine may read it: chmod 600 it, or give it to the gateway alone`,
    ]);
  });

  it.each([
    ['closed', 0o600, 'BANK_PASSWORD=secret-value\n'],
    ['without secrets', 0o644, 'PORT=1\nBANK_PASSWORD=\n#BANK_PASSWORD=x\nBANK_PASSWORD_FILE=/run/secrets/password\n'],
  ])('but not for one that is %s', (_name, mode, text) => {
    expect(openFiles({}, fileOfMode(mode, text))).toEqual([]);
    expect(openFiles({}, '/nowhere/.env')).toEqual([]);
  });
});

describe('a file that is not plain UTF-8', () => {
  const fileOf = (text: string, encoding: BufferEncoding) => {
    const file = fileOfMode(0o600);
    writeFileSync(file, text, encoding);
    return file;
  };
  const SAVE = 'save it as UTF-8 without a byte order mark';

  it.each([
    ['\ufeffsecret', 'utf16le', 'is UTF-16'],
    ['\ufeffsecret', 'utf8', 'begins with a byte order mark'],
  ] as const)('with a secret in it is named: %j as %s', (text, encoding, what) => {
    const file = fileOf(text, encoding);
    expect(markedFiles({ BANK_PASSWORD_FILE: file })).toEqual([
      `BANK_PASSWORD_FILE names ${file}, which ${what}: ${SAVE}`,
    ]);
  });

  it('such as .env as UTF-16, in which nothing is found; with a mark before UTF-8 it can be read', () => {
    const file = fileOf('\ufeffPORT=1', 'utf16le');
    expect(markedFiles({}, file)).toEqual([`${file} is UTF-16, so that no setting is found in it: ${SAVE}`]);
    expect(markedFiles({}, fileOf('\ufeffPORT=1', 'utf8'))).toEqual([]);
  });

  it('its twins: plain files, other files, and files that are not there, are not', () => {
    const plain = fileOf('sécret', 'utf8');
    const marked = fileOf('\ufeff', 'utf16le');
    expect(
      markedFiles({ BANK_PASSWORD_FILE: plain, BANK_USERNAME_FILE: '/nowhere', BANK_CA_FILE: marked }, plain),
    ).toEqual([]);
  });
});
