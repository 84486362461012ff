import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import forge from 'node-forge';
import { createCertificate } from '../sandbox/identity/certificate.js';
import { createKeyPair, type KeyPair } from '../sandbox/identity/key-pair.js';
import { checkProduction } from './cross-checks.js';
import { readSettings, unknownNames, type ReadOptions } from './read-settings.js';
import { SettingsInvalid, type SettingsError } from './settings-error.js';
import { KNOWN_NAMES, SECRET_NAMES, settingsSchema } from './settings-schema.js';
import { FileUnusable } from '../files/small-file.js';

type Env = Record<string, string>;

const directory = mkdtempSync(join(tmpdir(), 'read-settings-'));
const PFX = file('client.pfx', 'not opened here');
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
  writeFileSync(path, content);
  return path;
}

const read = (env: Env, options = LIVE) => readSettings({ ...BANK, ...env }, options).settings;

/** The errors in these settings. */
function errorsOf(env: Env, options = LIVE): readonly SettingsError[] {
  try {
    read(env, options);
    return [];
  } catch (error) {
    if (error instanceof SettingsInvalid) return error.errors;
    throw error;
  }
}

const named = (env: Env, options = LIVE) => errorsOf(env, options).map(({ variable }) => variable);
const problems = (env: Env) => errorsOf(env).map(({ variable, problem }) => `${variable} ${problem}`);

/** The settings as JSON. For a secret, only its file is visible. */
const plain = (value: unknown): object => JSON.parse(JSON.stringify(value));

describe('valid settings', () => {
  it("need only those of a bank; the rest have the schema's defaults, even if a variable is empty", () => {
    const { settings, warnings } = readSettings({ ...BANK, BANK_AUTH_URL: '', PORT: '', EGRESS_PROXY_URL: '' }, LIVE);
    expect(warnings).toEqual([]);
    const defaults = settingsSchema.omit({ BANK_BASE_URL: true, BANK_USERNAME: true, BANK_PASSWORD: true }).parse({});
    expect(plain(settings)).toMatchObject({
      ...plain(defaults),
      mode: 'live',
      BANK_BASE_URL: 'https://api.bank.example',
      BANK_AUTH_URL: 'https://api.bank.example',
      BANK_PFX_FILE: PFX,
      EGRESS_PROXY_URL: null,
      EGRESS_NO_PROXY: '',
      CORS_ORIGINS: [],
    });
    expect(Object.isFrozen(settings)).toBe(true);
  });
});

describe('wrong settings', () => {
  it('are all reported at once, each with an example', () => {
    const wrong = {
      BANK_BASE_URL: 'http://api.bank.example',
      BANK_USERNAME: 'a:b',
      BANK_PASSWORD_FILE: join(directory, 'nowhere'),
      BANK_CA_FILE: join(directory, 'no-ca'),
      PORT: '70000',
      HTTPS_PROXY: 'socks5://proxy.example',
      TLS_CERT_FILE: join(directory, 'no-cert'),
    };
    const errors = errorsOf({ ...wrong, BANK_PASSWORD: '', BANK_PFX_FILE: '', HOST: '0.0.0.0' });
    const implied = ['BANK_PFX_FILE', 'TLS_KEY_FILE', 'ALLOWED_HOSTS', 'ALLOWED_CLIENTS'];
    expect(errors.map(({ variable }) => variable).sort()).toEqual([...Object.keys(wrong), ...implied].sort());
    expect(errors.every(({ example }) => /^[A-Z_]+=/.test(example))).toBe(true);
  });

  const nothing = Object.fromEntries(Object.keys(BANK).map((name) => [name, '']));
  const nowhere = '/nowhere/client.pfx';
  const both = { BANK_CERT_FILE: PFX, BANK_KEY_FILE: PFX };
  it.each<[Env, string[]]>([
    [
      nothing,
      [
        'BANK_BASE_URL is missing: BANK_BASE_URL=https://api.bank.example',
        'BANK_USERNAME is missing: BANK_USERNAME_FILE=/run/secrets/bank-username',
        'BANK_PASSWORD is missing: BANK_PASSWORD_FILE=/run/secrets/bank-password',
        'BANK_PFX_FILE (or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing: BANK_PFX_FILE=/run/secrets/client.pfx',
      ],
    ],
    [
      { BANK_PFX_BASE64: 'x', ...both },
      [
        'BANK_PFX_FILE conflicts with BANK_PFX_BASE64 and BANK_CERT_FILE and BANK_KEY_FILE; keep one: BANK_PFX_FILE=/run/secrets/client.pfx',
      ],
    ],
    [
      { BANK_PFX_FILE: '', BANK_CERT_FILE: PFX },
      [
        'BANK_KEY_FILE is missing; set BANK_CERT_FILE and BANK_KEY_FILE together: BANK_KEY_FILE=/run/secrets/client-key.pem',
      ],
    ],
    [{ BANK_PFX_FILE: '', BANK_PFX_BASE64: 'TUlJ' }, []],
    [{ BANK_PFX_FILE: '', BANK_PFX_BASE64_FILE: PFX }, []],
    ...['BANK_PFX_FILE_FILE', 'BANK_CERT_FILE_FILE'].map((unknown): [Env, string[]] => [
      { BANK_PFX_FILE: '', [unknown]: PFX },
      [
        'BANK_PFX_FILE (or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing: BANK_PFX_FILE=/run/secrets/client.pfx',
      ],
    ]),
    [{ BANK_PFX_FILE: '', ...both, BANK_KEY_PASSPHRASE: 'x' }, []],
    // exit code 3 only if it is the only error
    [{ BANK_PFX_FILE: nowhere }, []],
    [
      { BANK_PFX_FILE: nowhere, BANK_TLS_MAX_VERSION: '1' },
      [
        'BANK_TLS_MAX_VERSION must be one of 1.2, 1.3: BANK_TLS_MAX_VERSION=1.2',
        `BANK_PFX_FILE points to ${nowhere}, which does not exist: BANK_PFX_FILE=/run/secrets/client.pfx`,
      ],
    ],
    [
      { https_proxy: 'socks5://proxy.example' },
      [
        'https_proxy must be an address that begins with http:// or https:// (EGRESS_PROXY_URL overrides it): EGRESS_PROXY_URL=http://proxy.example:3128',
      ],
    ],
  ])('%j: %j', (env, messages) => {
    expect(errorsOf(env).map(({ variable, problem, example }) => `${variable} ${problem}: ${example}`)).toEqual(
      messages,
    );
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

it('the example for a secret in a file is a file', () => {
  const env = { BANK_PFX_PASSCODE_FILE: '/run/secrets/bank-pfx-passcode', EGRESS_PROXY_URL_FILE: '/nowhere/proxy' };
  expect(errorsOf(env).map(({ variable, example }) => [variable, example])).toEqual([
    ['BANK_PFX_PASSCODE_FILE', 'BANK_PFX_PASSCODE_FILE=/path/to/bank-pfx-passcode'],
    ['EGRESS_PROXY_URL_FILE', 'EGRESS_PROXY_URL_FILE=/run/secrets/egress-proxy-url'],
  ]);
});

it('the example for a missing file differs from the given path', () => {
  const env = { BANK_CA_FILE: '/etc/accounts-gateway/bank-ca.pem', BANK_PFX_FILE: '/run/secrets/client.pfx' };
  const examples = errorsOf(env).map(({ example }) => example);
  expect(examples).toEqual(['BANK_CA_FILE=/path/to/bank-ca.pem', 'BANK_PFX_FILE=/path/to/client.pfx']);
});

describe('a secret in a file', () => {
  it.each(SECRET_NAMES)('%s is rejected if it is also set directly', (name) => {
    expect(errorsOf({ [name]: 'http://x', [`${name}_FILE`]: file('both', 'http://y') })).toContainEqual({
      variable: name,
      problem: `is set twice, as ${name} and as ${name}_FILE; keep one`,
      example: expect.stringMatching(new RegExp(`^${name}(_FILE)?=`)),
    });
  });

  it('is read when needed, and validated like its variable', () => {
    const path = file('password', 'first\n');
    const { settings } = readSettings({ ...BANK, BANK_PASSWORD: '', BANK_PASSWORD_FILE: path }, { sandbox: false });
    const source = settings.BANK_PASSWORD;
    expect([source.file, source.read()]).toEqual([path, 'first']);
    writeFileSync(path, 'second\n');
    expect(source.read()).toBe('second');
    writeFileSync(path, 'bad\u0007');
    expect(() => source.read()).toThrow(FileUnusable);
  });

  it('may be an address that contains its password', () => {
    const settings = read({
      EGRESS_PROXY_URL_FILE: file('proxy', 'http://someone:hunter2@proxy.example:3128\n'),
      REDIS_URL_FILE: file('redis', 'rediss://me:hunter2@redis.example:6380/1\n'),
    });
    expect(settings.EGRESS_PROXY_URL?.password).toBe('hunter2');
    expect(settings.REDIS_URL?.read()).toBe('rediss://me:hunter2@redis.example:6380/1');
  });

  it.each<[string, string | Buffer, string | null]>([
    ['BANK_PFX_PASSCODE', '\n', null],
    ['BANK_PASSWORD', '\n', 'is empty'],
    ['BANK_PASSWORD', Buffer.from('pässwort', 'latin1'), 'is not UTF-8'],
    ['BANK_PASSWORD', Buffer.alloc(1_048_577, 'x'), 'is larger than 1048576 bytes'],
  ])('%s, %p: %p', (name, content, reason) => {
    const path = file('secret', content);
    expect(problems({ [name]: '', [`${name}_FILE`]: path })).toEqual(
      reason === null ? [] : [`${name}_FILE points to ${path}, which ${reason}`],
    );
  });
});

describe('listening beyond this machine', () => {
  it.each(['127.9.9.9', '::1', 'localhost'])('%s is this machine, and needs no further settings', (host) => {
    expect(named({ HOST: host })).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '127.0.0.1.example'])('%s requires ALLOWED_HOSTS and ALLOWED_CLIENTS', (host) => {
    expect(named({ HOST: host })).toEqual(['ALLOWED_HOSTS', 'ALLOWED_CLIENTS']);
    expect(named({ HOST: host, ALLOWED_HOSTS: 'a.internal', ALLOWED_CLIENTS: 'private' })).toEqual([]);
  });
});

describe('files that settings name', () => {
  let cert: string;
  let key: string;
  let otherKey: string;
  let keyPair: KeyPair;
  beforeAll(async () => {
    const [pair, other] = await Promise.all([createKeyPair(), createKeyPair()]);
    keyPair = pair;
    cert = file('cert.pem', forge.pki.certificateToPem(createCertificate('a.internal', pair, { use: 'root' })));
    key = file('key.pem', forge.pki.privateKeyToPem(pair.privateKey));
    otherKey = file('other.pem', forge.pki.privateKeyToPem(other.privateKey));
  });

  it('must be a matching certificate and key for the listener', () => {
    const keyProblems = (path: string) => problems({ TLS_CERT_FILE: cert, TLS_KEY_FILE: path });
    expect(keyProblems(key)).toEqual([]);
    const other = `TLS_KEY_FILE points to ${otherKey}, which does not match TLS_CERT_FILE ${cert}`;
    expect(keyProblems(otherKey)).toEqual([other]);
    expect(keyProblems(cert)).toEqual([expect.stringContaining('which is a certificate, not a private key')]);
    expect(problems({ TLS_CERT_FILE: cert })).toEqual([
      'TLS_KEY_FILE is missing; set TLS_CERT_FILE and TLS_KEY_FILE together',
    ]);
  });

  it.each(['serve', 'doctor'] as const)('cause warnings for %s if other programs may reject them', (command) => {
    const late = { notBefore: new Date(0), notAfter: new Date(1000) };
    const roots = forge.pki.certificateToPem(createCertificate('old root', keyPair, { use: 'root' }, late));
    const env = { BANK_CA_FILE: file('roots.pem', readFileSync(cert, 'utf8') + roots), TLS_CERT_FILE: cert };
    const { warnings } = readSettings({ ...BANK, ...env, TLS_KEY_FILE: key }, { ...LIVE, command });
    expect(warnings).toEqual([
      expect.stringMatching(/^BANK_CA_FILE: The certificate O=Sandbox Bank, CN=old root expired on 1970-.*[^.]$/),
      expect.stringMatching(/^TLS_CERT_FILE: The certificate does not allow digital signatures/),
      expect.stringMatching(
        /^TLS_CERT_FILE: The certificate is for no name, not for localhost, 127\.0\.0\.1, \[::1\]\./,
      ),
    ]);
  });

  it('may contain several certificates, none of them damaged', () => {
    const pem = readFileSync(cert, 'utf8');
    const path = file('some.pem', pem + pem);
    expect(problems({ BANK_CA_FILE: path })).toEqual([]);
    writeFileSync(path, pem + pem.slice(0, 400));
    const cutOff = `BANK_CA_FILE points to ${path}, which contains a CERTIFICATE block that is cut off; copy it again`;
    expect(problems({ BANK_CA_FILE: path })).toEqual([cutOff]);
  });

  it.each([
    ['ab'.repeat(32), true],
    [Buffer.alloc(32, 255).toString('base64'), true],
    ['ab'.repeat(31), false],
  ])('%s is accepted as a snapshot key: %p', (content, good) => {
    const path = file('some.key', `${content}\n`);
    expect(named({ SNAPSHOT_KEY_FILE: path })).toEqual(good ? [] : ['SNAPSHOT_KEY_FILE']);
  });
});

describe('the route', () => {
  it.each<[Env, string | null]>([
    [{ HTTPS_PROXY: 'upper:1' }, 'http://upper:1/'],
    [{ https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:1' }, 'http://lower:1/'],
    [{ https_proxy: '', HTTPS_PROXY: 'http://upper:1' }, 'http://upper:1/'],
    [{ EGRESS_PROXY_URL: 'http://own:1', HTTPS_PROXY: 'http://upper:1' }, 'http://own:1/'],
    [{ EGRESS_PROXY_URL: 'direct', https_proxy: 'socks5://lower:1' }, null],
    [{ HTTP_PROXY: 'http://plain:1', ALL_PROXY: 'http://all:1' }, null],
  ])('%j uses %p', (env, proxy) => {
    expect(read(env).EGRESS_PROXY_URL?.href ?? null).toBe(proxy);
  });

  it.each<[Env, string]>([
    [{ no_proxy: 'lower', NO_PROXY: 'upper' }, 'lower'],
    [{ no_proxy: '', NO_PROXY: 'upper' }, 'upper'],
    [{ EGRESS_NO_PROXY: 'own', no_proxy: 'lower' }, 'own'],
  ])('%j goes direct to %p', (env, list) => {
    expect(read(env).EGRESS_NO_PROXY).toBe(list);
  });
});

describe('a setting that the command does not use', () => {
  const wrong = {
    TLS_CERT_FILE: '/nowhere/cert.pem',
    HOST: '0.0.0.0',
    SANDBOX_PORT: 'x',
    SNAPSHOT_KEY_FILE: '/nowhere/key',
  };

  it.each<[ReadOptions, string[]]>([
    [
      { ...LIVE, command: 'serve' },
      ['SNAPSHOT_KEY_FILE', 'TLS_CERT_FILE', 'TLS_KEY_FILE', 'ALLOWED_HOSTS', 'ALLOWED_CLIENTS'],
    ],
    [{ ...LIVE, command: 'doctor' }, []],
    [{ ...SANDBOX, command: 'sandbox' }, ['SANDBOX_PORT']],
  ])('does not prevent its start: %j prevents %j', (options, names) => {
    expect(named(wrong, options).sort()).toEqual(names.sort());
  });

  it('has its default, and causes a warning of the doctor if the gateway would not start', () => {
    const { settings, warnings } = readSettings({ ...BANK, ...wrong }, { ...LIVE, command: 'doctor' });
    expect(settings).toMatchObject({ TLS_CERT_FILE: undefined, SANDBOX_PORT: 8443 });
    expect(warnings).toEqual([
      'SNAPSHOT_KEY_FILE points to /nowhere/key, which does not exist; the gateway does not start',
      'TLS_CERT_FILE points to /nowhere/cert.pem, which does not exist; the gateway does not start',
      'ALLOWED_HOSTS must be set, because HOST (0.0.0.0) is not loopback; the gateway does not start',
      'ALLOWED_CLIENTS must be set, because HOST (0.0.0.0) is not loopback; the gateway does not start',
      'TLS_KEY_FILE is missing; set TLS_CERT_FILE and TLS_KEY_FILE together; the gateway does not start',
    ]);
  });

  it('is not used by the sandbox bank, and prevents nothing there', () => {
    const { warnings } = readSettings({ ...BANK, ...wrong, SANDBOX_PORT: '1' }, { ...SANDBOX, command: 'sandbox' });
    expect(warnings).toEqual([]);
  });
});

describe('texts from Windows and Docker', () => {
  it.each<[string, Buffer]>([
    ['a byte order mark', Buffer.from('\ufeffpässwörd\r\n')],
    ['UTF-16', Buffer.from('\ufeffpässwörd\r\n', 'utf16le')],
    ['UTF-16, big endian', Buffer.from('\ufeffpässwörd\r\n', 'utf16le').swap16()],
    ['UTF-16 without a mark', Buffer.from('pässwörd\r\n', 'utf16le')],
  ])('a secret in a file with %s is read', (_form, content) => {
    const path = file('secret', content);
    const env = {
      BANK_PASSWORD: '',
      BANK_PASSWORD_FILE: path,
      BANK_PFX_PASSCODE_FILE: path,
      BANK_USERNAME: '\ufeffm2m-user',
    };
    const { BANK_PASSWORD, BANK_PFX_PASSCODE, BANK_USERNAME } = read(env);
    expect([BANK_PASSWORD, BANK_PFX_PASSCODE].map((each) => each?.read())).toEqual(['pässwörd', 'pässwörd']);
    expect(BANK_USERNAME?.read()).toBe('m2m-user');
  });

  it('only one line break at the end is dropped', () => {
    expect(problems({ BANK_PASSWORD: '', BANK_PASSWORD_FILE: file('secret', 'a\n\n') })).toEqual([
      expect.stringContaining('must not contain control characters or line ends'),
    ]);
  });

  it.each(['"hunter2"', "'hunter2'"])('a secret in quotes causes a warning, without its value: %s', (text) => {
    const quoted = { BANK_PASSWORD: text, BANK_PFX_PASSCODE_FILE: file('secret', text) };
    const { warnings } = readSettings({ ...BANK, ...quoted }, LIVE);
    expect(warnings).toEqual([
      expect.stringMatching(/^the value of BANK_PASSWORD begins and ends with a quote/),
      expect.stringMatching(/^the text in the file of BANK_PFX_PASSCODE_FILE begins/),
    ]);
    expect(String(warnings)).not.toContain('hunter2');
    expect(readSettings({ ...BANK, BANK_PASSWORD: `${text}x` }, LIVE).warnings).toEqual([]);
  });

  it('an error of a text in quotes says so, without the text', () => {
    const [problem] = problems({ REDIS_URL_FILE: file('secret', '"redis://:hunter2@redis.example"') });
    expect(problem).toMatch(/^REDIS_URL_FILE .*; its text begins and ends with a quote/);
    expect(problem).not.toContain('hunter2');
  });

  it.each<[string, Env, RegExp]>([
    [
      'quotes around an address',
      { BANK_BASE_URL: '"https://api.bank.example"' },
      /begins with https.*; its value begins and ends with a quote/,
    ],
    [
      '~ in a path',
      { BANK_PASSWORD: '', BANK_PASSWORD_FILE: '~/password' },
      /^BANK_PASSWORD_FILE .*; its value contains ~/,
    ],
    ['$ in a path', { BANK_CA_FILE: '${HOME}/ca.pem' }, /^BANK_CA_FILE .*; its value contains ~, \$ or %/],
    ['a relative path', { BANK_CA_FILE: 'no-such-ca.pem' }, /^BANK_CA_FILE .*; its value is a relative path, from \//],
  ])('an error with %s says so', (_what, change, expected) => {
    const error = [...problems({ ...BANK, ...change })];
    const shown = error.map((problem) => `${Object.keys(change).at(-1)} ${problem}`);
    expect(shown).toEqual([expect.stringMatching(expected)]);
    expect(shown.join().match(/; its value /g)).toHaveLength(1);
  });

  it.each<[Env, RegExp]>([
    [{ ENVIRONMENT: '"production"' }, /^the value of ENVIRONMENT begins and ends with a quote/],
    [{ BANK_PASSWORD: 'hunter2\u200b' }, /^the value of BANK_PASSWORD begins or ends with a space or an invisible/],
    [{ BANK_PASSWORD: ' hunter2' }, /^the value of BANK_PASSWORD begins or ends with a space or an invisible/],
    [{ BANK_PFX_FILE: "'/run/secrets/client.pfx'" }, /^the value of BANK_PFX_FILE begins and ends with a quote/],
    [{ SNAPSHOT_FILE: '~/snapshot' }, /^the value of SNAPSHOT_FILE contains ~/],
    [{ SNAPSHOT_FILE: '%APPDATA%/snapshot' }, /^the value of SNAPSHOT_FILE contains ~, \$ or %/],
  ])('%j is taken with a warning, without a secret', (change, expected) => {
    const { warnings } = readSettings({ ...BANK, ...change }, LIVE);
    expect(warnings).toEqual([expect.stringMatching(expected)]);
    expect(String(warnings)).not.toContain('hunter2');
  });

  it('the negative case: usual values cause no hint', () => {
    const usual = { ENVIRONMENT: 'it\'s "here"', SNAPSHOT_FILE: '/var/lib/100%/snapshot', BANK_PASSWORD: 'a$b~c d' };
    expect(readSettings({ ...BANK, ...usual }, LIVE).warnings).toEqual([]);
  });

  it('a PFX file is accepted where its base64 text is expected', () => {
    const path = file('binary.pfx', Buffer.from('3082fffe', 'hex'));
    expect(problems({ BANK_PFX_FILE: '', BANK_PFX_BASE64_FILE: path })).toEqual([]);
  });
});

describe('with --sandbox', () => {
  it('needs no setting, allows dev servers, and uses free ports', () => {
    const { settings, warnings } = readSettings({}, SANDBOX);
    expect(warnings).toEqual([]);
    expect(settings).toMatchObject({
      mode: 'sandbox',
      SANDBOX_PORT: 0,
      SANDBOX_CONTROL_PORT: 0,
      CORS_ORIGINS: ['http://localhost:*', 'http://127.0.0.1:*'],
    });
    expect(readSettings({ SANDBOX_PORT: '9443' }, SANDBOX).settings.SANDBOX_PORT).toBe(9443);
    expect(readSettings({}, { ...SANDBOX, command: 'sandbox' }).settings).toMatchObject({
      SANDBOX_PORT: 8443,
      SANDBOX_CONTROL_PORT: 8444,
    });
  });

  it('ignores settings of a bank, valid or not, with one warning that names them; others count', () => {
    const env = { ...BANK, BANK_USERNAME: 'a:b', BANK_PFX_PASSCODE_FILE: '/nowhere', BANK_PAGE_SIZE: '10' };
    const { settings, warnings } = readSettings(env, SANDBOX);
    expect([settings.BANK_BASE_URL, settings.BANK_PAGE_SIZE]).toEqual([undefined, 10]);
    expect(warnings).toEqual([
      '--sandbox ignores these settings: BANK_BASE_URL, BANK_USERNAME, BANK_PASSWORD, BANK_PFX_FILE, BANK_PFX_PASSCODE_FILE',
    ]);
    expect(named({ PORT: 'abc' }, SANDBOX)).toEqual(['PORT']);
  });

  it('uses settings that are only displayed', () => {
    const shown = {
      BANK_SUPPORT: '+45 70 10 00 00',
      BANK_STATUS_PAGE: 'https://status.bank.example/',
      EGRESS_PUBLIC_ADDRESS: '203.0.113.7',
    };
    expect(readSettings(shown, SANDBOX)).toMatchObject({ settings: shown, warnings: [] });
  });

  it('calls the bank directly even if a proxy or an address is set, valid or not', () => {
    const env = { EGRESS_PROXY_URL: 'ftp://own:1', https_proxy: 'socks5://x', EGRESS_LOCAL_ADDRESS: '192.0.2.10' };
    const { EGRESS_PROXY_URL, EGRESS_LOCAL_ADDRESS } = read(env, SANDBOX);
    expect([EGRESS_PROXY_URL, EGRESS_LOCAL_ADDRESS]).toEqual([null, undefined]);
  });
});

describe('in production', () => {
  const production = { NODE_ENV: 'production' };

  it('other Node options are allowed with a bank, and so is the command sandbox', () => {
    const env = { ...production, NODE_OPTIONS: '--enable-source-maps --tls-cipher-list=HIGH', NODE_DEBUG: '' };
    expect(errorsOf(env)).toEqual([]);
    expect(errorsOf(production, { sandbox: true, command: 'sandbox' })).toEqual([]);
  });

  it.each<[string, string, Env, ReadOptions]>([
    ['NODE_ENV', '--sandbox', {}, SANDBOX],
    ['NODE_DEBUG', 'secrets', { NODE_DEBUG: 'tls,http' }, LIVE],
    ['NODE_TLS_REJECT_UNAUTHORIZED', 'any server', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, LIVE],
  ])('%s forbids %s, which is allowed elsewhere', (variable, word, env, options) => {
    expect(errorsOf({ ...production, ...env }, options)).toMatchObject([
      { variable, problem: expect.stringContaining(word) },
    ]);
    expect(errorsOf({ ...env, NODE_ENV: 'development' }, options)).toEqual([]);
  });

  it.each([
    '--tls-keylog=/tmp/keys',
    '--trace-tls',
    '--heapsnapshot-signal=SIGUSR2',
    '--heapsnapshot-near-heap-limit=1',
    '--heap-prof',
    '--cpu-prof',
    '--report-on-signal',
    '--report-uncaught-exception',
    '--abort-on-uncaught-exception',
    '--prof',
    '--inspect=0',
    '--inspect-brk',
  ])('NODE_ENV forbids %s, as a flag and in NODE_OPTIONS with quotes and underscores', (flag) => {
    const error = { variable: 'NODE_ENV', problem: expect.stringContaining(flag.split('=')[0] ?? '') };
    const quoted = { NODE_OPTIONS: `--enable-source-maps "${flag.replaceAll('-', '_').replace('__', '--')}"` };
    expect(checkProduction(production, false, [flag])).toMatchObject([error]);
    expect(checkProduction({ ...production, ...quoted }, false)).toMatchObject([error]);
    expect(checkProduction(quoted, false, [flag])).toEqual([]);
  });

  it.each([
    '--heap"snapshot"-signal=SIGUSR2',
    '"--he\\ap-prof"',
    '--title="a b" --cpu"-"prof',
    '"--tls-keylog=/tmp/a b"',
  ])('NODE_ENV forbids NODE_OPTIONS=%s, which Node unquotes', (options) => {
    expect(checkProduction({ ...production, NODE_OPTIONS: options }, false)).toHaveLength(1);
  });

  it('the negative case: a file that is named like a forbidden option', () => {
    expect(checkProduction({ ...production, NODE_OPTIONS: '--require=./--inspect.js' }, false)).toEqual([]);
  });

  it('NODE_ENV forbids an open inspector', () => {
    const error = { variable: 'NODE_ENV', problem: expect.stringContaining('an open inspector') };
    expect(checkProduction(production, false, [], 'ws://127.0.0.1:9229/some-id')).toMatchObject([error]);
  });
});

it.each([
  ['BANK_BASE_URI', 'BANK_BASE_URL'],
  ['BANK_PASWORD', 'BANK_PASSWORD'],
  ['BANK_PFX_PASSCODE_FIEL', 'BANK_PFX_PASSCODE_FILE'],
  ['SNAPSHOT_FRESH', 'SNAPSHOT_FRESH_MS'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['REDIS_UR', 'REDIS_URL'],
  ['LOG_LEVELS', 'LOG_LEVEL'],
])('%s is not a setting; the warning names %s but not the value, which may be a secret', (name, nearest) => {
  expect(unknownNames({ [name]: 'hunter2' })).toEqual([
    `${name} is not a setting and is ignored (did you mean ${nearest}?)`,
  ]);
});

it.each(['PATH', 'HOSTNAME', 'NODE_ENV', 'HTTPS_PROXY', 'TLSCERT', 'KUBERNETES_PORT', 'REDIS_SERVICE_PORT'])(
  '%s causes no warning, because it belongs to another program',
  (name) => {
    expect(unknownNames({ [name]: 'x' })).toEqual([]);
  },
);

it('no setting is reported as unknown', () => {
  expect(unknownNames(Object.fromEntries(KNOWN_NAMES.map((name) => [name, 'x'])))).toEqual([]);
});
