import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { warnOfNode } from '../../src/cli/node-floor.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { temporaryDirectory } from '../support/closing.js';
import { get } from '../support/call.js';
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

describe('the program reads its settings from', () => {
  it('a .env file, which the environment overrides; secrets in files, without their last line break; a warning for a misspelled name', async () => {
    const cwd = temporaryDirectory();
    const settings = programEnvironment(sandbox, { LOG_LEVEL: 'silent' });
    const ends = { BANK_USERNAME_FILE: '\n', BANK_PASSWORD_FILE: '\r\n', BANK_PFX_PASSCODE_FILE: '\n' };
    for (const [name, end] of Object.entries(ends)) {
      const path = join(cwd, name);
      writeFileSync(path, read(settings[name] as string) + end);
      settings[name] = path;
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(cwd, '.env'), lines.join(''));
    const env = { LOG_LEVEL: 'debug', BANK_USERNAM: 'planted-value', HOME: '/', LANG: 'C' };
    const program = await serves(env, cwd);
    await until(() => program.events('bank.call').length > 0);
    // the warning contains the misspelled name without its value; variables of other programs cause none
    expect(program.events('config.warning')).toMatchObject([
      ...warnOfNode(process.versions.node).map((msg) => ({ msg })),
      { msg: expect.stringMatching(/BANK_USERNAM .*BANK_USERNAME\b/) },
    ]);
    expect(program.stdout()).not.toContain('planted-value');
    expect(program.events('gateway.started')).toMatchObject([
      { level: 'info', mode: 'live', route: 'direct', version: expect.any(String) },
    ]);
    expect(program.events('gateway.started')[0]).toHaveProperty('commit');
  });

  it('secrets in the environment, with the PFX as base64', async () => {
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
});

describe('errors of the settings', () => {
  /** Runs the program until it exits. */
  async function run(options: Partial<ProgramOptions>) {
    const program = await startProgram({ cwd: temporaryDirectory(), ...options });
    const code = await program.exit;
    const [stdout, stderr] = [program.stdout(), program.stderr()];
    // never a stack trace
    expect(stdout + stderr).not.toMatch(/\n\s+at |node:internal|\.js:\d+/);
    const errors = (program.events('config.invalid')[0]?.['errors'] ?? []) as { variable: string; problem: string }[];
    return { code, stdout, stderr, variables: errors.map(({ variable }) => variable) };
  }

  const OPEN_INSPECTOR = 'data:text/javascript,import { open } from "node:inspector"; open(0, "127.0.0.1");';

  it('list every missing setting, and do not start the sandbox', async () => {
    const { code, stderr, variables } = await run({});
    expect(code).toBe(2);
    expect(variables.sort()).toEqual(['BANK_BASE_URL', 'BANK_PASSWORD', 'BANK_PFX_FILE', 'BANK_USERNAME']);
    for (const variable of variables) expect(stderr).toMatch(new RegExp(`^ *${variable} .*e\\.g\\. \\S`, 'm'));
    expect(stderr).toMatch(/^Correct them in the environment or .*\.env\. .*npm start$/m);
  });

  it('name the .env that was read, and do not advise the sandbox in production', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, '.env'), 'PORT=0\n');
    const { stderr } = await run({ cwd, env: { NODE_ENV: 'production' } });
    const where = `Correct them in the environment or ${join(cwd, '.env')}.`;
    expect(stderr).toMatch(new RegExp(`^${where} docs/settings\\.md lists them all\\.$`, 'm'));
  });

  it.each<[string, Partial<ProgramOptions>]>([
    ['--sandbox', { args: ['--sandbox'] }],
    ['an open inspector', { nodeFlags: ['--import', OPEN_INSPECTOR] }],
  ])('name NODE_ENV if production forbids %s', async (word, { env, ...options }) => {
    const { code, stderr, variables } = await run({
      env: { ...programEnvironment(sandbox), NODE_ENV: 'production', ...env },
      ...options,
    });
    expect([code, variables]).toEqual([2, ['NODE_ENV']]);
    expect(stderr).toContain(word);
  });
});
