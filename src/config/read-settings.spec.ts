import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import forge from 'node-forge';
import { createCertificate } from '../sandbox/identity/certificate.js';
import { createKeyPair } from '../sandbox/identity/key-pair.js';
import { readSettings, type ReadOptions } from './read-settings.js';
import { SettingsInvalid, type SettingsError } from './settings-error.js';
import { SECRET_NAMES, settingsSchema } from './settings-schema.js';
import { FileUnusable } from './small-file.js';

const directory = mkdtempSync(join(tmpdir(), 'read-settings-'));
const PFX = file('client.pfx', 'no certificate is read here');
const BANK = {
  BANK_BASE_URL: 'https://api.bank.example/',
  BANK_USERNAME: 'm2m-user',
  BANK_PASSWORD: 'hunter2-password',
  BANK_PFX_FILE: PFX,
};
const LIVE: ReadOptions = { sandbox: false };
const SANDBOX: ReadOptions = { sandbox: true };

afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const read = (env: Record<string, string>, options = LIVE) => readSettings({ ...BANK, ...env }, options);

/** The errors of these settings; none when they are good. */
function errorsOf(env: Record<string, string>, options = LIVE, base: object = BANK): readonly SettingsError[] {
  try {
    readSettings({ ...base, ...env }, options);
    return [];
  } catch (error) {
    if (error instanceof SettingsInvalid) return error.errors;
    throw error;
  }
}

const named = (errors: readonly SettingsError[]) => errors.map(({ variable }) => variable);

describe('good settings', () => {
  it('are those of a bank alone, and the rest has the defaults of the schema', () => {
    const { common, bank, warnings } = read({});
    expect(warnings).toEqual([]);
    expect(bank).toMatchObject({
      mode: 'live',
      BANK_BASE_URL: 'https://api.bank.example',
      BANK_AUTH_URL: 'https://api.bank.example',
      BANK_PFX_FILE: PFX,
    });
    expect(common).toMatchObject({
      ...settingsSchema.parse({}),
      production: false,
      EGRESS_PROXY_URL: null,
      EGRESS_NO_PROXY: '',
      CORS_ORIGINS: [],
    });
    expect(Object.isFrozen(common) && Object.isFrozen(common.ALLOWED_HOSTS)).toBe(true);
  });

  it('count as not set when they are empty', () => {
    const { common, bank } = read({ BANK_AUTH_URL: '', PORT: '', EGRESS_PROXY_URL: '' });
    expect([bank?.BANK_AUTH_URL, common.PORT]).toEqual(['https://api.bank.example', 3000]);
  });
});

describe('wrong settings', () => {
  it('with nothing set, every missing one is named, with an example', () => {
    expect(
      errorsOf({}, LIVE, {}).map(({ variable, problem, example }) => `${variable} ${problem}: ${example}`),
    ).toEqual([
      'BANK_BASE_URL is missing: BANK_BASE_URL=https://api.bank.example',
      'BANK_USERNAME is missing: BANK_USERNAME_FILE=/run/secrets/bank-username',
      'BANK_PASSWORD is missing: BANK_PASSWORD_FILE=/run/secrets/bank-password',
      'BANK_PFX_FILE (or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing: BANK_PFX_FILE=/run/secrets/client.pfx',
    ]);
  });

  it('are reported together, each once', () => {
    const wrong = {
      BANK_BASE_URL: 'http://api.bank.example',
      BANK_USERNAME: 'a:b',
      BANK_PASSWORD_FILE: join(directory, 'nowhere'),
      BANK_CA_FILE: join(directory, 'no-ca'),
      PORT: '70000',
      HTTPS_PROXY: 'socks5://proxy.example',
      SNAPSHOT_STALE_MS: '1000',
      TLS_CERT_FILE: join(directory, 'no-cert'),
    };
    const errors = errorsOf({ ...wrong, HOST: '0.0.0.0' }, LIVE, {});
    const implied = ['BANK_PFX_FILE', 'TLS_KEY_FILE', 'ALLOWED_HOSTS', 'ALLOWED_CLIENTS'];
    expect(named(errors).sort()).toEqual([...Object.keys(wrong), ...implied].sort());
    expect(errors.every(({ example }) => /^[A-Z_]+=/.test(example))).toBe(true);
  });

  it('name the new name of a setting', () => {
    expect(errorsOf({ SNAPSHOT_STALE_MS: '1000' })).toEqual([
      { variable: 'SNAPSHOT_STALE_MS', problem: 'is now SNAPSHOT_MAX_AGE_MS', example: 'SNAPSHOT_MAX_AGE_MS=300000' },
    ]);
  });

  it('never show a secret, or the credentials of an address', () => {
    const wrong = {
      BANK_BASE_URL: 'https://hunter2-user:hunter2-pw@api.bank.example',
      BANK_AUTH_URL: 'hunter2-user:hunter2-pw@auth.bank.example',
      BANK_USERNAME: 'hunter2:user',
      BANK_PASSWORD: 'hunter2\n',
      BANK_PFX_BASE64: 'hunter2',
      BANK_PFX_PASSCODE: 'hunter2',
      BANK_PFX_PASSCODE_FILE: '/run/passcode',
      REDIS_URL: 'me:hunter2@redis.example',
      https_proxy: 'socks5://hunter2:hunter2@proxy.example',
    };
    const errors = errorsOf(wrong);
    expect(errors).toHaveLength(8);
    expect(JSON.stringify(errors) + new SettingsInvalid(errors).message).not.toContain('hunter2');
  });
});

describe('the client certificate', () => {
  const withoutPfx = { ...BANK, BANK_PFX_FILE: '' };

  it.each<Record<string, string>>([
    { BANK_PFX_BASE64: 'TUlJ' },
    { BANK_CERT_FILE: PFX, BANK_KEY_FILE: PFX, BANK_KEY_PASSPHRASE: 'x' },
  ])('may be %j', (env) => {
    expect(errorsOf(env, LIVE, withoutPfx)).toEqual([]);
  });

  it.each<[Record<string, string>, string]>([
    [{ BANK_PFX_FILE: PFX, BANK_PFX_BASE64: 'x' }, 'BANK_PFX_FILE and BANK_PFX_BASE64 are both set; keep one'],
    [
      { BANK_PFX_BASE64: 'x', BANK_CERT_FILE: PFX, BANK_KEY_FILE: PFX },
      'BANK_PFX_BASE64 and BANK_CERT_FILE and BANK_KEY_FILE are both set; keep one',
    ],
    [{ BANK_CERT_FILE: PFX }, 'BANK_KEY_FILE is missing; BANK_CERT_FILE and BANK_KEY_FILE go together'],
    [{ BANK_KEY_FILE: PFX }, 'BANK_CERT_FILE is missing; BANK_CERT_FILE and BANK_KEY_FILE go together'],
  ])('%j: %s', (env, message) => {
    expect(errorsOf(env, LIVE, withoutPfx).map(({ variable, problem }) => `${variable} ${problem}`)).toEqual([message]);
  });

  it('that is not there is reported with other errors; alone it is left to exit code 3', () => {
    const nowhere = '/nowhere/client.pfx';
    expect(named(errorsOf({ BANK_PFX_FILE: nowhere, PORT: 'abc' }))).toEqual(['PORT', 'BANK_PFX_FILE']);
    expect(errorsOf({ BANK_PFX_FILE: nowhere })).toEqual([]);
  });
});

describe('a secret in a file', () => {
  it('may be each secret there is, and nothing else', () => {
    expect([...SECRET_NAMES].sort()).toEqual([
      'BANK_KEY_PASSPHRASE',
      'BANK_PASSWORD',
      'BANK_PFX_BASE64',
      'BANK_PFX_PASSCODE',
      'BANK_USERNAME',
      'EGRESS_PROXY_URL',
      'REDIS_URL',
    ]);
  });

  it('is read when it is needed, by the rule of its variable', () => {
    const path = file('password', 'first\n');
    const source = read({ BANK_PASSWORD: '', BANK_PASSWORD_FILE: path }).bank?.BANK_PASSWORD;
    expect([source?.variable, source?.file, source?.read()]).toEqual(['BANK_PASSWORD_FILE', path, 'first']);
    writeFileSync(path, 'second\n');
    expect(source?.read()).toBe('second');
    writeFileSync(path, 'bad\u0007');
    expect(() => source?.read()).toThrow(FileUnusable);
  });

  it('may be an address with its password', () => {
    const { common } = read({
      EGRESS_PROXY_URL_FILE: file('proxy', 'http://someone:hunter2@proxy.example:3128\n'),
      REDIS_URL_FILE: file('redis', 'rediss://me:hunter2@redis.example:6380/1\n'),
    });
    expect(common.EGRESS_PROXY_URL?.password).toBe('hunter2');
    expect(common.REDIS_URL?.read()).toBe('rediss://me:hunter2@redis.example:6380/1');
  });

  it.each(SECRET_NAMES)('%s is refused when given both ways', (name) => {
    const errors = errorsOf({ [name]: 'http://x', [`${name}_FILE`]: file('both', 'http://y') });
    expect(errors).toContainEqual({
      variable: name,
      problem: `is given twice, as ${name} and as ${name}_FILE; keep one`,
      example: expect.stringMatching(new RegExp(`^${name}(_FILE)?=`)),
    });
  });

  it.each(['', '\n'])('may be empty (%j) when it is the passcode, and no other', (content) => {
    const path = file('empty', content);
    expect(read({ BANK_PFX_PASSCODE_FILE: path }).bank?.BANK_PFX_PASSCODE.read()).toBe('');
    expect(named(errorsOf({ BANK_PASSWORD: '', BANK_PASSWORD_FILE: path }))).toEqual(['BANK_PASSWORD_FILE']);
  });

  it('is refused when it is not UTF-8', () => {
    const path = file('latin1', Buffer.from('pässwort', 'latin1'));
    expect(errorsOf({ BANK_PASSWORD: '', BANK_PASSWORD_FILE: path })).toMatchObject([
      { variable: 'BANK_PASSWORD', problem: 'is not UTF-8' },
    ]);
  });
});

describe('listening beyond this machine', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('%s is this machine, and needs nothing more', (host) => {
    expect(errorsOf({ HOST: host })).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '10.1.2.3', '127.0.0.1.example', 'localhost.example'])(
    '%s must come with names and clients',
    (host) => {
      expect(named(errorsOf({ HOST: host }))).toEqual(['ALLOWED_HOSTS', 'ALLOWED_CLIENTS']);
      expect(named(errorsOf({ HOST: host, ALLOWED_HOSTS: 'a.internal' }))).toEqual(['ALLOWED_CLIENTS']);
      expect(errorsOf({ HOST: host, ALLOWED_HOSTS: 'a.internal', ALLOWED_CLIENTS: 'private' })).toEqual([]);
    },
  );
});

describe('PEM files', () => {
  let cert: string;
  let key: string;
  let otherKey: string;
  beforeAll(async () => {
    const [pair, other] = await Promise.all([createKeyPair(), createKeyPair()]);
    cert = file('cert.pem', forge.pki.certificateToPem(createCertificate('a.internal', pair, { use: 'root' })));
    key = file('key.pem', forge.pki.privateKeyToPem(pair.privateKey));
    otherKey = file('other.pem', forge.pki.privateKeyToPem(other.privateKey));
  });

  it('of the listener are a certificate and its key', () => {
    expect(errorsOf({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key })).toEqual([]);
    const problems = (env: Record<string, string>) =>
      errorsOf(env).map(({ variable, problem }) => `${variable} ${problem.replace(/^names .*, which/, '…')}`);
    expect(problems({ TLS_CERT_FILE: cert, TLS_KEY_FILE: otherKey })).toEqual([
      'TLS_KEY_FILE does not belong to TLS_CERT_FILE, or is encrypted',
    ]);
    expect(problems({ TLS_CERT_FILE: cert })).toEqual([
      'TLS_KEY_FILE is missing; TLS_CERT_FILE and TLS_KEY_FILE go together',
    ]);
    expect(problems({ TLS_CERT_FILE: key, TLS_KEY_FILE: cert })).toEqual([
      'TLS_CERT_FILE … has no PEM certificate',
      'TLS_KEY_FILE … has no PEM key',
    ]);
  });

  it('of roots may have several certificates, none of them damaged', () => {
    const pem = readFileSync(cert, 'utf8');
    for (const name of ['BANK_CA_FILE', 'EGRESS_PROXY_CA_FILE', 'REDIS_CA_FILE']) {
      expect(errorsOf({ [name]: file('two.pem', pem + pem) })).toEqual([]);
      for (const [text, problem] of [
        [pem + pem.slice(0, 400), 'has a PEM certificate that cannot be parsed'],
        ['hello', 'has no PEM certificate'],
      ] as const) {
        expect(errorsOf({ [name]: file('bad.pem', text) })).toMatchObject([
          { variable: name, problem: expect.stringContaining(problem) },
        ]);
      }
    }
  });
});

describe('the kept snapshot', () => {
  it('is not kept where no regular file can be written', () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const link = join(directory, 'link-to-pipe');
    symlinkSync(pipe, link);
    for (const [path, problem] of [
      [pipe, 'is not a regular file'],
      [link, 'is not a regular file'],
      [directory, 'is not a regular file'],
      [join(directory, 'none', 'kept'), 'directory does not exist'],
    ] as const) {
      expect(errorsOf({ SNAPSHOT_FILE: path })[0]?.problem).toContain(problem);
    }
    expect(errorsOf({ SNAPSHOT_FILE: file('kept-before', 'x') })).toEqual([]);
  });

  it.each([
    ['ab'.repeat(32), true],
    [Buffer.alloc(32, 255).toString('base64'), true],
    [Buffer.alloc(32, 255).toString('base64url'), true],
    ['ab'.repeat(31), false],
    [Buffer.alloc(33, 1).toString('base64'), false],
  ])('%s is a key: %p', (content, good) => {
    const errors = errorsOf({ SNAPSHOT_KEY_FILE: file('some.key', `${content}\n`) });
    expect(named(errors)).toEqual(good ? [] : ['SNAPSHOT_KEY_FILE']);
  });
});

describe('the route', () => {
  it.each<[Record<string, string>, string | null]>([
    [{ HTTPS_PROXY: 'upper:1' }, 'http://upper:1/'],
    [{ https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:1' }, 'http://lower:1/'],
    [{ https_proxy: '', HTTPS_PROXY: 'http://upper:1' }, 'http://upper:1/'],
    [{ EGRESS_PROXY_URL: 'http://own:1', HTTPS_PROXY: 'http://upper:1' }, 'http://own:1/'],
    [{ EGRESS_PROXY_URL: 'direct', https_proxy: 'socks5://lower:1' }, null],
    [{ HTTP_PROXY: 'http://plain:1', ALL_PROXY: 'http://all:1' }, null],
  ])('%j leads through %p', (env, proxy) => {
    expect(read(env).common.EGRESS_PROXY_URL?.href ?? null).toBe(proxy);
  });

  it.each<[Record<string, string>, string]>([
    [{ no_proxy: 'lower', NO_PROXY: 'upper' }, 'lower'],
    [{ no_proxy: '', NO_PROXY: 'upper' }, 'upper'],
    [{ EGRESS_NO_PROXY: 'own', no_proxy: 'lower' }, 'own'],
  ])('%j goes around it for %p', (env, list) => {
    expect(read(env).common.EGRESS_NO_PROXY).toBe(list);
  });

  it('a wrong inherited proxy is an error that names the setting which overrides it', () => {
    expect(errorsOf({ https_proxy: 'socks5://proxy.example' })).toMatchObject([
      { variable: 'https_proxy', problem: expect.stringContaining('EGRESS_PROXY_URL overrides it') },
    ]);
  });
});

describe('with --sandbox', () => {
  it('nothing need be set, dev servers may call, and its ports are free ones', () => {
    const { common, bank, warnings } = readSettings({}, SANDBOX);
    expect([bank, warnings]).toEqual([null, []]);
    expect(common).toMatchObject({
      SANDBOX_PORT: 0,
      SANDBOX_CONTROL_PORT: 0,
      CORS_ORIGINS: ['http://localhost:*', 'http://127.0.0.1:*'],
    });
    expect(readSettings({ SANDBOX_PORT: '9443' }, SANDBOX).common.SANDBOX_PORT).toBe(9443);
    expect(readSettings({}, { ...SANDBOX, sandboxAlone: true }).common).toMatchObject({
      SANDBOX_PORT: 8443,
      SANDBOX_CONTROL_PORT: 8444,
    });
  });

  it('settings of a bank are ignored, wrong or not, with one warning that names them; others hold', () => {
    const env = { BANK_USERNAME: 'a:b', BANK_PFX_PASSCODE_FILE: '/nowhere', BANK_PAGE_SIZE: '10' };
    const { bank, common, warnings } = read(env, SANDBOX);
    expect([bank, common.BANK_PAGE_SIZE, warnings]).toEqual([
      null,
      10,
      [
        'with --sandbox these settings are ignored: BANK_BASE_URL, BANK_USERNAME, BANK_PASSWORD, BANK_PFX_FILE, BANK_PFX_PASSCODE_FILE',
      ],
    ]);
    expect(named(errorsOf({ PORT: 'abc' }, SANDBOX))).toEqual(['PORT']);
  });

  it('calls go direct whatever proxy or address is set, and wrong ones do not matter', () => {
    const env = { EGRESS_PROXY_URL: 'http://own:1', https_proxy: 'socks5://x', EGRESS_LOCAL_ADDRESS: '192.0.2.10' };
    const { common } = read(env, SANDBOX);
    expect([common.EGRESS_PROXY_URL, common.EGRESS_LOCAL_ADDRESS]).toEqual([null, undefined]);
  });
});

describe('in production', () => {
  const production = { NODE_ENV: 'production' };

  it('a bank is served, with other flags, and so is the sandbox alone', () => {
    const env = { ...production, NODE_OPTIONS: '--enable-source-maps --tls-cipher-list=HIGH', NODE_DEBUG: '' };
    expect(read(env, { ...LIVE, runtimeFlags: ['--disable-sigusr1'] }).common.production).toBe(true);
    expect(errorsOf(production, { sandbox: true, sandboxAlone: true })).toEqual([]);
  });

  it.each<[string, string, Record<string, string>, ReadOptions]>([
    ['NODE_ENV', '--sandbox', {}, SANDBOX],
    ['NODE_ENV', '--inspect-brk=0.0.0.0:9229', {}, { ...LIVE, runtimeFlags: ['--inspect-brk=0.0.0.0:9229'] }],
    ['NODE_ENV', '--inspect', { NODE_OPTIONS: '--max-old-space-size=64 "--inspect=127.0.0.1:0"' }, LIVE],
    ['NODE_ENV', 'an open inspector', {}, { ...LIVE, inspectorUrl: 'ws://127.0.0.1:9229/some-id' }],
    ['NODE_ENV', '--tls-keylog', {}, { ...LIVE, runtimeFlags: ['--tls-keylog', '/tmp/keys'] }],
    ['NODE_ENV', '--tls-keylog', { NODE_OPTIONS: '--tls_keylog=/tmp/keys' }, LIVE],
    ['NODE_DEBUG', 'secrets', { NODE_DEBUG: 'tls,http' }, LIVE],
    ['NODE_TLS_REJECT_UNAUTHORIZED', 'any server', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, LIVE],
  ])('%s forbids %s; elsewhere it is allowed', (variable, word, env, options) => {
    expect(errorsOf({ ...production, ...env }, options)).toMatchObject([
      { variable, problem: expect.stringContaining(word) },
    ]);
    expect(errorsOf({ ...env, NODE_ENV: 'development' }, options)).toEqual([]);
  });
});
