import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import forge from 'node-forge';
import { createCertificate } from '../sandbox/identity/certificate.js';
import { createKeyPair } from '../sandbox/identity/key-pair.js';
import type { Fault } from './fault.js';
import { readSettings, SettingsInvalid, type ReadOptions } from './read-settings.js';
import { FileUnusable } from './small-file.js';
import { describeSetting, SETTING_NAMES, type SettingName } from './settings-schema.js';

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

/** The faults of these settings; none when they are good. */
function faultsOf(env: Record<string, string>, options = LIVE, base: Record<string, string> = BANK): readonly Fault[] {
  try {
    readSettings({ ...base, ...env }, options);
    return [];
  } catch (error) {
    if (error instanceof SettingsInvalid) return error.faults;
    throw error;
  }
}

const named = (faults: readonly Fault[]) => faults.map(({ variable }) => variable);

describe('settings that are all given', () => {
  it('the bank alone is enough, and the rest has the documented values', () => {
    const { common, bank, warnings } = read({});
    expect(warnings).toEqual([]);
    expect(bank).toMatchObject({
      mode: 'live',
      BANK_BASE_URL: 'https://api.bank.example',
      BANK_AUTH_URL: 'https://api.bank.example',
      BANK_PFX_FILE: PFX,
    });
    expect(common).toMatchObject({
      production: false,
      EGRESS_PROXY_URL: null,
      EGRESS_NO_PROXY: '',
      SNAPSHOT_FRESH_MS: 10_000,
      ALLOWED_HOSTS: ['localhost', '127.0.0.1', '[::1]'],
      CORS_ORIGINS: [],
    });
  });

  it('the token may be issued by another host', () => {
    expect(read({ BANK_AUTH_URL: 'https://auth.bank.example/m2m/' }).bank?.BANK_AUTH_URL).toBe(
      'https://auth.bank.example/m2m',
    );
  });

  it('an empty variable counts as not set', () => {
    const { common, bank } = read({ BANK_AUTH_URL: '', PORT: '', ALLOWED_CLIENTS: '', EGRESS_PROXY_URL: '' });
    expect(bank?.BANK_AUTH_URL).toBe('https://api.bank.example');
    expect(common).toMatchObject({ PORT: 3000, ALLOWED_CLIENTS: ['loopback'] });
  });

  it('unknown names are warned of, and do not stop the start', () => {
    expect(read({ BANK_PASSWROD: 'x' }).warnings).toEqual([
      'BANK_PASSWROD is not a setting and is ignored; did you mean BANK_PASSWORD?',
    ]);
  });
});

describe('settings that are wrong', () => {
  it('with nothing set, every missing one is named, with an example', () => {
    const faults = faultsOf({}, LIVE, {});
    expect(named(faults)).toEqual(['BANK_BASE_URL', 'BANK_USERNAME', 'BANK_PASSWORD', 'BANK_PFX_FILE']);
    expect(faults.map(({ problem }) => problem)).toEqual([
      'is missing',
      'is missing',
      'is missing',
      '(or BANK_PFX_BASE64, or BANK_CERT_FILE with BANK_KEY_FILE) is missing',
    ]);
    expect(faults.every(({ example }) => example !== undefined && example !== '')).toBe(true);
  });

  it('all faults are reported together, each once', () => {
    const faults = faultsOf(
      {
        BANK_BASE_URL: 'http://api.bank.example',
        BANK_USERNAME: 'a:b',
        BANK_PASSWORD_FILE: join(directory, 'nowhere'),
        BANK_CA_FILE: join(directory, 'no-ca'),
        PORT: '70000',
        BANK_PAGE_SIZE: 'abc',
        SNAPSHOT_FRESH_MS: '-1',
        BANK_CONNECT_TIMEOUT_MS: '0',
        SNAPSHOT_MAX_AGE_MS: '1000000000000',
        HOST: '0.0.0.0',
        TLS_CERT_FILE: join(directory, 'no-cert'),
        HTTPS_PROXY: 'socks5://proxy.example',
        LOG_LEVEL: 'loud',
        CORS_ORIGINS: '*',
      },
      LIVE,
      {},
    );
    expect(named(faults).sort()).toEqual(
      [
        'ALLOWED_CLIENTS',
        'ALLOWED_HOSTS',
        'BANK_BASE_URL',
        'BANK_CA_FILE',
        'BANK_CONNECT_TIMEOUT_MS',
        'BANK_PAGE_SIZE',
        'BANK_PASSWORD_FILE',
        'BANK_PFX_FILE',
        'BANK_USERNAME',
        'CORS_ORIGINS',
        'HTTPS_PROXY',
        'LOG_LEVEL',
        'PORT',
        'SNAPSHOT_FRESH_MS',
        'SNAPSHOT_MAX_AGE_MS',
        'TLS_CERT_FILE',
        'TLS_KEY_FILE',
      ].sort(),
    );
  });

  it('the error says it all in one line', () => {
    const error = new SettingsInvalid(faultsOf({ PORT: '70000', BANK_PAGE_SIZE: '0' }));
    expect(error.message).toBe('BANK_PAGE_SIZE must be at least 1; PORT must be at most 65535');
  });

  it.each(SETTING_NAMES.filter((name) => /PORT|_MS|SIZE|BYTES|MAX|SEED|SECONDS|COUNTS$/.test(name)))(
    '%s is refused with "abc", "-1" and 1e12, and an example is given',
    (name) => {
      for (const text of ['abc', '-1', '1000000000000']) {
        const faults = faultsOf({ [name]: text });
        expect(named(faults)).toEqual([name]);
        expect(faults[0]?.example).toBe(`${name}=${describeSetting(name).example}`);
      }
    },
  );

  it('the PFX as a file and as text is one too many', () => {
    expect(faultsOf({ BANK_PFX_BASE64: 'TUlJ' })).toEqual([
      expect.objectContaining({ variable: 'BANK_PFX_FILE', problem: 'is set together with BANK_PFX_BASE64; keep one' }),
    ]);
  });

  it('a PFX file that is not there is told with the other faults', () => {
    expect(faultsOf({ BANK_PFX_FILE: '/nowhere/client.pfx', PORT: 'abc' })).toEqual([
      expect.objectContaining({ variable: 'PORT' }),
      {
        variable: 'BANK_PFX_FILE',
        problem: 'names /nowhere/client.pfx, which does not exist',
      },
    ]);
  });

  it('alone it is no fault of the settings: the certificate has an exit code of its own', () => {
    expect(faultsOf({ BANK_PFX_FILE: '/nowhere/client.pfx' })).toEqual([]);
  });

  it('the PFX may be given as text alone', () => {
    const { bank } = readSettings({ ...BANK, BANK_PFX_FILE: '', BANK_PFX_BASE64: 'TUlJ' }, LIVE);
    expect(bank?.BANK_PFX_BASE64).toMatchObject({ variable: 'BANK_PFX_BASE64', file: null });
  });

  it('no message holds the value of a secret or credentials of an address', () => {
    const secrets = {
      BANK_BASE_URL: 'https://hunter2-user:hunter2-pw@api.bank.example',
      BANK_AUTH_URL: 'hunter2-user:hunter2-pw@auth.bank.example',
      BANK_USERNAME: 'hunter2:user',
      BANK_PASSWORD: 'hunter2\n',
      BANK_PFX_FILE: '/run/client.pfx',
      BANK_PFX_BASE64: 'hunter2',
      BANK_PFX_PASSCODE: 'hunter2',
      BANK_PFX_PASSCODE_FILE: '/run/passcode',
      EGRESS_PROXY_URL: 'socks5://hunter2:hunter2@proxy.example',
      CORS_ORIGINS: 'https://hunter2:hunter2@app.example',
      ALLOWED_HOSTS: 'hunter2:hunter2@app.example',
      ALLOWED_CLIENTS: 'hunter2:hunter2@10.0.0.1',
      EGRESS_LOCAL_ADDRESS: 'hunter2@eth0',
      HOST: 'https://hunter2:hunter2@0.0.0.0',
    };
    const faults = faultsOf(secrets, LIVE, {});
    expect(faults).toHaveLength(12);
    expect(JSON.stringify(faults) + new SettingsInvalid(faults).message).not.toContain('hunter2');
  });

  it.each(['https_proxy', 'HTTPS_PROXY'])('nor do those of an inherited %s', (name) => {
    const faults = faultsOf({ [name]: 'socks5://hunter2:hunter2@proxy.example' });
    expect(named(faults)).toEqual([name]);
    expect(faults[0]?.problem).toContain('EGRESS_PROXY_URL overrides it');
    expect(JSON.stringify(faults)).not.toContain('hunter2');
  });
});

describe('what is shared and kept', () => {
  it('is as it is given; the address is read when it is needed', () => {
    const keyFile = file('sealing.key', `${'ab'.repeat(32)}\n`);
    const url = file('redis-url', 'rediss://me:hunter2@redis.example:6380/1\n');
    const env = { REDIS_URL_FILE: url, REDIS_KEY_PREFIX: 'x:', SNAPSHOT_FILE: join(directory, 'kept') };
    const { common } = read({ ...env, SNAPSHOT_KEY_FILE: keyFile });
    expect(common).toMatchObject({
      REDIS_KEY_PREFIX: 'x:',
      SNAPSHOT_FILE: env.SNAPSHOT_FILE,
      SNAPSHOT_KEY_FILE: keyFile,
    });
    expect(common.REDIS_URL?.read()).toBe('rediss://me:hunter2@redis.example:6380/1');
  });

  it('is refused together where it is wrong, without what may be a password', () => {
    const faults = faultsOf({
      REDIS_URL: 'me:hunter2@redis.example',
      REDIS_KEY_PREFIX: 'a b',
      REDIS_CA_FILE: PFX,
      SNAPSHOT_FILE: join(directory, 'none', 'kept'),
      SNAPSHOT_KEY_FILE: file('short.key', 'abcd'),
    });
    expect(named(faults)).toEqual([
      'REDIS_URL',
      'REDIS_KEY_PREFIX',
      'REDIS_CA_FILE',
      'SNAPSHOT_FILE',
      'SNAPSHOT_KEY_FILE',
    ]);
    // a path that is refused needs no other as an example
    expect(named(faults.filter(({ example }) => example === undefined))).toEqual([
      'REDIS_CA_FILE',
      'SNAPSHOT_FILE',
      'SNAPSHOT_KEY_FILE',
    ]);
    expect(JSON.stringify(faults.map(({ problem }) => problem))).not.toMatch(/hunter2|abcd/);
    expect(faultsOf({ SNAPSHOT_FILE: directory })[0]?.problem).toContain('is a directory');
  });

  it('is never kept in the place of a device or a pipe, which the first write would replace', () => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const link = join(directory, 'link-to-pipe');
    symlinkSync(pipe, link);
    for (const path of [pipe, link]) {
      expect(faultsOf({ SNAPSHOT_FILE: path })[0]?.problem).toContain('is no regular file');
    }
    expect(faultsOf({ SNAPSHOT_FILE: file('kept-before', 'x') })).toEqual([]);
  });

  it('may have its key as hex or base64, of 32 bytes and no other length', () => {
    for (const [content, good] of [
      ['ab'.repeat(32), true],
      [Buffer.alloc(32, 1).toString('base64'), true],
      [Buffer.alloc(32, 255).toString('base64url'), true],
      ['ab'.repeat(31), false],
      [Buffer.alloc(33, 1).toString('base64'), false],
      ['not a key', false],
    ] as const) {
      const faults = faultsOf({ SNAPSHOT_KEY_FILE: file('some.key', `${content}\n`) });
      expect([content, named(faults)]).toEqual([content, good ? [] : ['SNAPSHOT_KEY_FILE']]);
    }
  });
});

describe('a secret in a file', () => {
  const SECRETS = [
    'BANK_USERNAME',
    'BANK_PASSWORD',
    'BANK_PFX_BASE64',
    'BANK_PFX_PASSCODE',
    'BANK_KEY_PASSPHRASE',
    'EGRESS_PROXY_URL',
    'REDIS_URL',
  ] as const satisfies readonly SettingName[];

  it('may be each secret there is, and nothing else', () => {
    const withFile = SETTING_NAMES.filter((name) => describeSetting(name).secret);
    expect(withFile.sort()).toEqual([...SECRETS].sort());
  });

  it('is read when it is needed, so that a changed file is seen', () => {
    const path = file('password', 'first\n');
    const { bank } = read({ BANK_PASSWORD: '', BANK_PASSWORD_FILE: path });
    const source = bank?.BANK_PASSWORD;
    expect([source?.variable, source?.file, source?.read()]).toEqual(['BANK_PASSWORD_FILE', path, 'first']);
    writeFileSync(path, 'second\n');
    expect(source?.read()).toBe('second');
  });

  it('is checked by the rule of its variable each time', () => {
    const path = file('changing', 'good');
    const source = read({ BANK_PASSWORD: '', BANK_PASSWORD_FILE: path }).bank?.BANK_PASSWORD;
    writeFileSync(path, 'bad\u0007');
    expect(() => source?.read()).toThrow(FileUnusable);
    expect(() => source?.read()).toThrow('must not contain control characters');
  });

  it('may be a proxy with its password', () => {
    const path = file('proxy', 'http://someone:hunter2@proxy.example:3128\n');
    expect(read({ EGRESS_PROXY_URL_FILE: path }).common.EGRESS_PROXY_URL?.password).toBe('hunter2');
  });

  it.each(SECRETS)('%s is refused when given both ways', (name) => {
    const faults = faultsOf({ [name]: 'http://x', [`${name}_FILE`]: file('both', 'http://y') });
    expect(faults).toContainEqual({
      variable: name,
      problem: `is given twice, as ${name} and as ${name}_FILE; keep one`,
      example: expect.stringMatching(new RegExp(`^${name}(_FILE)?=`)),
    });
  });

  it('is no conflict with an empty variable, as compose files tend to give', () => {
    const path = file('passcode', 'open sesame');
    const { bank } = read({ BANK_PFX_PASSCODE: '', BANK_PFX_PASSCODE_FILE: path });
    expect(bank?.BANK_PFX_PASSCODE.read()).toBe('open sesame');
  });

  it.each([
    ['is missing', () => join(directory, 'nowhere'), 'does not exist'],
    ['is a directory', () => directory, 'is a directory, not a file'],
    ['is empty', () => file('empty', ''), 'is empty'],
    ['is but a line end', () => file('line-end', '\n'), 'is empty'],
    ['is huge', () => file('huge', Buffer.alloc(1_048_577, 'a')), 'is too large'],
  ])('is refused when it %s', (_name, make, reason) => {
    const path = make();
    const [fault, ...others] = faultsOf({ BANK_PASSWORD: '', BANK_PASSWORD_FILE: path });
    expect(fault?.variable).toBe('BANK_PASSWORD_FILE');
    expect(fault?.problem).toContain(`names ${path}, which ${reason}`);
    // another path would not help
    expect(fault?.example).toBeUndefined();
    expect(others).toEqual([]);
  });

  it('is refused without its content when the content is wrong', () => {
    const faults = faultsOf({ BANK_USERNAME: '', BANK_USERNAME_FILE: file('user', 'hunter2:x') });
    expect(named(faults)).toEqual(['BANK_USERNAME']);
    expect(JSON.stringify(faults)).not.toContain('hunter2');
  });

  it('is refused when it is not UTF-8', () => {
    const faults = faultsOf({
      BANK_PASSWORD: '',
      BANK_PASSWORD_FILE: file('latin1', Buffer.from('pässwort', 'latin1')),
    });
    expect(faults).toEqual([expect.objectContaining({ variable: 'BANK_PASSWORD', problem: 'is not UTF-8' })]);
  });

  it.each(['', '\n'])('may be empty (%j) when it is the passcode', (content) => {
    const path = file('empty-passcode', content);
    expect(read({ BANK_PFX_PASSCODE_FILE: path }).bank?.BANK_PFX_PASSCODE.read()).toBe('');
  });
});

describe('listening beyond this machine', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', 'localhost'])('%s is this machine, and needs nothing more', (host) => {
    expect(faultsOf({ HOST: host })).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '10.1.2.3', 'accounts.internal', '127.0.0.1.example', 'localhost.example'])(
    '%s must come with names and clients',
    (host) => {
      const faults = faultsOf({ HOST: host });
      expect(named(faults)).toEqual(['ALLOWED_HOSTS', 'ALLOWED_CLIENTS']);
      expect(faults.every(({ problem }) => problem.startsWith(`must be set, because HOST (${host})`))).toBe(true);
    },
  );

  it('is allowed with both', () => {
    const { common } = read({ HOST: '0.0.0.0', ALLOWED_HOSTS: 'Accounts.Internal', ALLOWED_CLIENTS: 'private' });
    expect(common).toMatchObject({
      HOST: '0.0.0.0',
      ALLOWED_HOSTS: ['accounts.internal'],
      ALLOWED_CLIENTS: ['private'],
    });
  });

  it('is refused with one of them', () => {
    expect(named(faultsOf({ HOST: '::', ALLOWED_HOSTS: 'accounts.internal', ALLOWED_CLIENTS: '' }))).toEqual([
      'ALLOWED_CLIENTS',
    ]);
  });
});

describe('certificates of PEM files', () => {
  let pair: { cert: string; key: string };
  let otherKey: string;
  beforeAll(async () => {
    const [key, other] = await Promise.all([createKeyPair(), createKeyPair()]);
    const certificate = createCertificate('accounts.internal', key, { use: 'root' });
    pair = {
      cert: file('cert.pem', forge.pki.certificateToPem(certificate)),
      key: file('key.pem', forge.pki.privateKeyToPem(key.privateKey)),
    };
    otherKey = file('other.pem', forge.pki.privateKeyToPem(other.privateKey));
  });

  it('a certificate and its key make the API speak HTTPS', () => {
    expect(read({ TLS_CERT_FILE: pair.cert, TLS_KEY_FILE: pair.key }).common).toMatchObject({
      TLS_CERT_FILE: pair.cert,
      TLS_KEY_FILE: pair.key,
    });
  });

  it('a key of another certificate is refused', () => {
    const faults = faultsOf({ TLS_CERT_FILE: pair.cert, TLS_KEY_FILE: otherKey });
    expect(named(faults)).toEqual(['TLS_KEY_FILE']);
    expect(faults[0]?.problem).toContain('does not go with TLS_CERT_FILE');
  });

  it('a certificate without key is refused', () => {
    expect(faultsOf({ TLS_CERT_FILE: pair.cert })).toEqual([
      expect.objectContaining({
        variable: 'TLS_KEY_FILE',
        problem: 'is missing; TLS_CERT_FILE and TLS_KEY_FILE go together',
      }),
    ]);
  });

  it('a key without certificate is refused', () => {
    expect(named(faultsOf({ TLS_KEY_FILE: pair.key }))).toEqual(['TLS_CERT_FILE']);
  });

  it('the two taken for each other are refused', () => {
    const faults = faultsOf({ TLS_CERT_FILE: pair.key, TLS_KEY_FILE: pair.cert });
    expect(faults.map(({ variable, problem }) => [variable, problem.split(', which ')[1]])).toEqual([
      ['TLS_CERT_FILE', 'holds no PEM certificate'],
      ['TLS_KEY_FILE', 'holds no PEM key'],
    ]);
  });

  it('roots for the bank are taken', () => {
    expect(read({ BANK_CA_FILE: pair.cert }).bank?.BANK_CA_FILE).toBe(pair.cert);
  });

  it('two roots in one file are taken', () => {
    const both = file('both.pem', readFileSync(pair.cert, 'utf8').repeat(2));
    expect(faultsOf({ BANK_CA_FILE: both })).toEqual([]);
  });

  it('roots of which one is damaged are refused', () => {
    const [good, bad] = [readFileSync(pair.cert, 'utf8'), readFileSync(pair.cert, 'utf8').slice(0, 400)];
    const faults = faultsOf({ BANK_CA_FILE: file('half.pem', good + bad) });
    expect(faults.map(({ problem }) => problem)).toEqual([
      expect.stringContaining('holds a PEM certificate that cannot be parsed'),
    ]);
  });

  it.each([
    ['a directory', () => join(directory, 'folder'), 'is a directory'],
    ['no PEM', () => file('text.pem', 'hello'), 'holds no PEM certificate'],
    [
      'a damaged PEM',
      () => file('bad.pem', '-----BEGIN CERTIFICATE-----\nhello\n-----END CERTIFICATE-----\n'),
      'holds a PEM certificate that cannot be parsed',
    ],
  ])('roots that are %s are refused', (_name, make, problem) => {
    mkdirSync(join(directory, 'folder'), { recursive: true });
    for (const name of ['BANK_CA_FILE', 'EGRESS_PROXY_CA_FILE']) {
      const faults = faultsOf({ [name]: make() });
      expect(named(faults)).toEqual([name]);
      expect(faults[0]?.problem).toContain(problem);
    }
  });
});

describe('the route', () => {
  const proxyOf = (env: Record<string, string>, options = LIVE) =>
    read(env, options).common.EGRESS_PROXY_URL?.href ?? null;

  it.each([
    [{ HTTPS_PROXY: 'http://upper:1' }, 'http://upper:1/'],
    [{ https_proxy: 'http://lower:1' }, 'http://lower:1/'],
    [{ https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:1' }, 'http://lower:1/'],
    [{ https_proxy: '', HTTPS_PROXY: 'http://upper:1' }, 'http://upper:1/'],
    [{ HTTPS_PROXY: 'upper:1' }, 'http://upper:1/'],
    [{ EGRESS_PROXY_URL: 'http://own:1', HTTPS_PROXY: 'http://upper:1' }, 'http://own:1/'],
    [{ EGRESS_PROXY_URL: 'direct', HTTPS_PROXY: 'http://upper:1', https_proxy: 'http://lower:1' }, null],
    [{ EGRESS_PROXY_URL: '', HTTPS_PROXY: 'http://upper:1' }, 'http://upper:1/'],
    [{ HTTP_PROXY: 'http://plain:1', ALL_PROXY: 'http://all:1' }, null],
  ])('%j leads over %p', (env, proxy) => {
    expect(proxyOf(env as Record<string, string>)).toBe(proxy);
  });

  it('a bad inherited proxy is no fault when EGRESS_PROXY_URL overrides it', () => {
    expect(faultsOf({ EGRESS_PROXY_URL: 'direct', HTTPS_PROXY: 'socks5://proxy.example' })).toEqual([]);
  });

  it.each([
    [{ NO_PROXY: 'upper' }, 'upper'],
    [{ no_proxy: 'lower', NO_PROXY: 'upper' }, 'lower'],
    [{ no_proxy: '', NO_PROXY: 'upper' }, 'upper'],
    [{ EGRESS_NO_PROXY: 'own', no_proxy: 'lower' }, 'own'],
  ])('%j goes around it for %p', (env, list) => {
    expect(read(env as Record<string, string>).common.EGRESS_NO_PROXY).toBe(list);
  });

  it('a source address is taken', () => {
    expect(read({ EGRESS_LOCAL_ADDRESS: '192.0.2.10' }).common.EGRESS_LOCAL_ADDRESS).toBe('192.0.2.10');
  });
});

describe('with --sandbox', () => {
  it('nothing need be set', () => {
    const { bank, warnings } = readSettings({}, SANDBOX);
    expect([bank, warnings]).toEqual([null, []]);
  });

  it('settings of a bank are ignored with one warning that names them', () => {
    const { bank, warnings } = read(
      { BANK_PFX_PASSCODE_FILE: '/nowhere', BANK_CA_FILE: '/nowhere', BANK_PAGE_SIZE: '10' },
      SANDBOX,
    );
    expect(bank).toBeNull();
    expect(warnings).toEqual([
      'with --sandbox these settings are ignored: BANK_BASE_URL, BANK_USERNAME, BANK_PASSWORD, BANK_PFX_FILE, BANK_PFX_PASSCODE_FILE, BANK_CA_FILE',
    ]);
  });

  it('settings of a bank are ignored even when they are wrong', () => {
    expect(faultsOf({ BANK_BASE_URL: 'http://x', BANK_USERNAME: 'a:b', BANK_PASSWORD_FILE: '/x' }, SANDBOX)).toEqual(
      [],
    );
  });

  it('other settings hold', () => {
    expect(named(faultsOf({ PORT: 'abc', SANDBOX_ACCOUNTS: '-1' }, SANDBOX))).toEqual(['PORT', 'SANDBOX_ACCOUNTS']);
  });

  it('traffic goes direct whatever proxy or address is set', () => {
    const { common } = read(
      { EGRESS_PROXY_URL: 'http://own:1', HTTPS_PROXY: 'http://upper:1', EGRESS_LOCAL_ADDRESS: '192.0.2.10' },
      SANDBOX,
    );
    expect([common.EGRESS_PROXY_URL, common.EGRESS_LOCAL_ADDRESS]).toEqual([null, undefined]);
  });

  it('an inherited proxy that is bad does not matter', () => {
    expect(faultsOf({ https_proxy: 'socks5://proxy.example' }, SANDBOX)).toEqual([]);
  });
});

describe('in production', () => {
  const production = { NODE_ENV: 'production' };

  it('a bank is served', () => {
    expect(read(production).common.production).toBe(true);
  });

  it('--sandbox is forbidden', () => {
    expect(named(faultsOf(production, SANDBOX))).toEqual(['NODE_ENV']);
  });

  it('the sandbox alone is allowed', () => {
    expect(faultsOf(production, { sandbox: true, sandboxAlone: true })).toEqual([]);
  });

  it.each([['--inspect'], ['--inspect-brk=0.0.0.0:9229'], ['--inspect-port=1']])('%s is refused', (flag) => {
    const [fault] = faultsOf(production, { ...LIVE, runtimeFlags: ['--enable-source-maps', flag] });
    expect(fault?.problem).toContain(`is production, where ${flag} is refused`);
  });

  it('an inspector that is open is refused, however it was asked for', () => {
    const [fault] = faultsOf(production, { ...LIVE, inspectorUrl: 'ws://127.0.0.1:9229/some-id' });
    expect(fault?.problem).toContain('is production, where an open inspector is refused');
  });

  it.each([
    ['--max-old-space-size=64 --inspect', '--inspect'],
    ['"--inspect=127.0.0.1:0"', '--inspect'],
    ['--tls-keylog=/tmp/keys', '--tls-keylog'],
    ['--trace-warnings "--tls-keylog=/tmp/the keys"', '--tls-keylog'],
    ['--tls_keylog=/tmp/keys', '--tls-keylog'],
  ])('NODE_OPTIONS %s is refused', (NODE_OPTIONS, flag) => {
    const faults = faultsOf({ ...production, NODE_OPTIONS });
    expect(named(faults)).toEqual(['NODE_ENV']);
    expect(faults[0]?.problem).toContain(flag);
  });

  it.each([[['--tls-keylog=/tmp/keys']], [['--tls-keylog', '/tmp/keys']]])('%j is refused', (runtimeFlags) => {
    expect(named(faultsOf(production, { ...LIVE, runtimeFlags }))).toEqual(['NODE_ENV']);
  });

  it('NODE_DEBUG is refused', () => {
    expect(named(faultsOf({ ...production, NODE_DEBUG: 'tls,http' }))).toEqual(['NODE_DEBUG']);
    expect(faultsOf({ ...production, NODE_DEBUG: '' })).toEqual([]);
  });

  it('other flags are allowed', () => {
    const options = { ...LIVE, runtimeFlags: ['--disable-sigusr1'] };
    expect(faultsOf({ ...production, NODE_OPTIONS: '--enable-source-maps --tls-cipher-list=HIGH' }, options)).toEqual(
      [],
    );
  });

  it('NODE_TLS_REJECT_UNAUTHORIZED=0 is refused', () => {
    expect(named(faultsOf({ ...production, NODE_TLS_REJECT_UNAUTHORIZED: '0' }))).toEqual([
      'NODE_TLS_REJECT_UNAUTHORIZED',
    ]);
  });

  it('elsewhere all of these are allowed', () => {
    const options = { ...SANDBOX, runtimeFlags: ['--inspect', '--tls-keylog=/tmp/keys'], inspectorUrl: 'ws://x' };
    expect(faultsOf({ NODE_ENV: 'development', NODE_DEBUG: 'tls' }, options)).toEqual([]);
  });
});
