import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { VERSION } from '../../src/config/version.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { temporaryDirectory } from '../support/closing.js';
import { get } from '../support/gateway.js';
import { programEnvironment, type ProgramOptions, startProgram } from '../support/program.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await start();
});

const read = (file: string) => readFileSync(file, 'utf8');

async function serves(env: Record<string, string>, cwd = temporaryDirectory()) {
  const program = await startProgram({ env, cwd });
  const url = await program.started();
  const answer = await get(`${url}/api/v1/accounts`);
  expect([answer.status, program.stderr()]).toEqual([200, '']);
  return program;
}

describe('settings come from where they may', () => {
  it('secrets in files, whose last line end is dropped, whichever it is', async () => {
    const directory = temporaryDirectory();
    const env = programEnvironment(sandbox);
    const ends = { BANK_USERNAME_FILE: '\n', BANK_PASSWORD_FILE: '\r\n', BANK_PFX_PASSCODE_FILE: '\n' };
    for (const [name, end] of Object.entries(ends)) {
      const path = join(directory, name);
      writeFileSync(path, read(env[name] as string) + end);
      env[name] = path;
    }
    const program = await serves(env);
    expect(program.events('gateway.started')).toMatchObject([
      { level: 'info', mode: 'live', route: 'direct', version: expect.any(String) },
    ]);
    expect(program.events('gateway.started')[0]).toHaveProperty('commit');
  });

  it('secrets in the environment, the PFX as base64', async () => {
    const { url, files } = sandbox;
    await serves({
      BANK_BASE_URL: `${url}/`,
      BANK_USERNAME: read(files.username),
      BANK_PASSWORD: read(files.password),
      BANK_PFX_BASE64: readFileSync(files.pfx).toString('base64'),
      BANK_PFX_PASSCODE: read(files.passcode),
      BANK_CA_FILE: files.ca,
      PORT: '0',
    });
  });

  it('a .env file in the working directory, which the environment overrides', async () => {
    const cwd = temporaryDirectory();
    const lines = Object.entries(programEnvironment(sandbox)).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(cwd, '.env'), `${lines.join('')}LOG_LEVEL=silent\n`);
    const program = await serves({ LOG_LEVEL: 'debug' }, cwd);
    await until(() => program.events('bank.call').length > 0);
  });

  it('a misspelled name is warned of with the nearest, and its value is not shown', async () => {
    const program = await serves(programEnvironment(sandbox, { BANK_USERNAM: 'planted-value', SNAPSHOT_FRESH: '5' }));
    const warnings = program.events('config.warning').map(({ msg }) => String(msg));
    expect(warnings).toEqual([
      expect.stringMatching(/BANK_USERNAM .*BANK_USERNAME\b/),
      expect.stringMatching(/SNAPSHOT_FRESH .*SNAPSHOT_FRESH_MS/),
    ]);
    expect(program.stdout()).not.toContain('planted-value');
  });

  it('the counterpart: names of others are none of our business', async () => {
    const program = await serves(
      programEnvironment(sandbox, { HOME: '/', PATH_INFO: 'x', NODE_EXTRA: '1', LANG: 'C', npm_config_cache: '/' }),
    );
    expect(program.events('config.warning')).toEqual([]);
  });
});

describe('errors', () => {
  let sandbox: Sandbox;
  let cwd: string;
  beforeAll(async () => {
    sandbox = await start();
    cwd = temporaryDirectory();
  }, 60_000);

  /** Runs it to its end. */
  async function run(options: Partial<ProgramOptions>) {
    const program = await startProgram({ cwd, ...options });
    const code = await program.exit;
    const [stdout, stderr] = [program.stdout(), program.stderr()];
    // no stack trace, whatever happens
    expect(stdout + stderr).not.toMatch(/\n\s+at |node:internal|\.js:\d+/);
    const errors = (program.events('config.invalid')[0]?.['errors'] ?? []) as { variable: string; problem: string }[];
    return { code, stdout, stderr, variables: errors.map(({ variable }) => variable) };
  }

  const OPEN_INSPECTOR = 'data:text/javascript,import { open } from "node:inspector"; open(0, "127.0.0.1");';

  const good = () => programEnvironment(sandbox);

  describe('wrong settings are reported all at once', () => {
    it('nothing set: every setting that is missing, and no sandbox in silence', async () => {
      const { code, stderr, variables } = await run({});
      expect(code).toBe(2);
      expect(variables.sort()).toEqual(['BANK_BASE_URL', 'BANK_PASSWORD', 'BANK_PFX_FILE', 'BANK_USERNAME']);
      for (const variable of variables) expect(stderr).toMatch(new RegExp(`^ *${variable} .*e\\.g\\. \\S`, 'm'));
      expect(stderr).toContain('npm start');
    });

    it('a dozen errors: each with its variable, what is wrong, and an example', async () => {
      const wrong = {
        BANK_BASE_URL: 'http://api.bank.example',
        BANK_AUTH_URL: 'https://auth.bank.example/?x=1',
        BANK_USERNAME: 'user:name',
        BANK_PASSWORD_FILE: '/nowhere/password',
        BANK_PFX_FILE: '/a.pfx',
        BANK_PFX_BASE64: 'QUJD',
        BANK_PAGE_SIZE: 'abc',
        BANK_MAX_CONCURRENT_REQUESTS: '0',
        SNAPSHOT_FRESH_MS: '-1',
        SNAPSHOT_MAX_AGE_MS: '1e12',
        PORT: '70000',
        HOST: '0.0.0.0',
        LOG_LEVEL: 'loud',
        CORS_ORIGINS: 'https://treasury.example/',
        TLS_CERT_FILE: '/nowhere/cert.pem',
      };
      const { code, stderr, variables } = await run({ env: wrong });
      expect(code).toBe(2);
      const expected = Object.keys(wrong).filter((name) => name !== 'HOST' && name !== 'BANK_PFX_BASE64');
      expect(new Set(variables)).toEqual(new Set([...expected, 'ALLOWED_HOSTS', 'ALLOWED_CLIENTS', 'TLS_KEY_FILE']));
      for (const name of variables) expect(stderr).toContain(`  ${name} `);
    });

    it('secrets that are wrong are not repeated', async () => {
      const wrong = {
        BANK_BASE_URL: 'https://user:planted-one@api.bank.example',
        BANK_PASSWORD: 'planted-two\u0007',
        EGRESS_PROXY_URL: 'socks5://user:planted-three@proxy.example:1080',
      };
      const env: Record<string, string> = { ...good(), ...wrong };
      delete env['BANK_PASSWORD_FILE'];
      const { code, stdout, stderr, variables } = await run({ env });
      expect(code).toBe(2);
      expect(variables.sort()).toEqual(Object.keys(wrong).sort());
      expect(stdout + stderr).not.toContain('planted');
    });

    it.each<[string, Partial<ProgramOptions>]>([
      ['--sandbox', { args: ['--sandbox'] }],
      ['--inspect', { nodeFlags: ['--inspect=127.0.0.1:0'] }],
      ['an open inspector', { nodeFlags: ['--import', OPEN_INSPECTOR] }],
      ['--tls-keylog', { env: { NODE_OPTIONS: '"--tls-keylog=/dev/null"' } }],
    ])('production forbids %s', async (word, { env, ...options }) => {
      const { code, stderr, variables } = await run({ env: { ...good(), NODE_ENV: 'production', ...env }, ...options });
      expect([code, variables]).toEqual([2, ['NODE_ENV']]);
      expect(stderr).toContain(word);
    });

    it('--help and --version answer and end well; what is not known does not', async () => {
      const help = await run({ args: ['--help'] });
      expect(help.code).toBe(0);
      for (const word of ['serve', 'sandbox', '--version']) expect(help.stdout).toContain(word);
      expect(await run({ args: ['--version'] })).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(new RegExp(`^${VERSION}( \\([0-9a-f]{12}\\))?\\n$`)),
        stderr: '',
      });
      for (const args of [['--unknown'], ['unknown']]) {
        const { code, stderr } = await run({ args });
        expect(code).toBe(2);
        expect(stderr).toContain('--help');
      }
    });
  });
});
