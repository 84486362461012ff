import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { temporaryDirectory } from '../support/closing.js';
import { start } from '../support/sandbox.js';
import { get } from '../support/gateway.js';
import { programEnvironment, startProgram } from '../support/program.js';
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
