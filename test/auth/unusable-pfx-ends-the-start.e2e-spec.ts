import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { start } from '../support/sandbox.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { get } from '../support/gateway.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { startPretendBank } from '../support/pretend-bank.js';

let sandbox: Sandbox;
let directory: string;
beforeAll(async () => {
  sandbox = await start();
  directory = temporaryDirectory();
});

const file = (name: string, content: string | Buffer) => {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
};

async function run(change: Record<string, string>) {
  const program = await startProgram({ env: programEnvironment(sandbox, change), cwd: directory });
  const code = await program.exit;
  return { code, stdout: program.stdout(), stderr: program.stderr(), refused: program.events('certificate.refused') };
}

describe('an unusable PFX ends the start', () => {
  const pfx = () => readFileSync(sandbox.files.pfx);
  it.each<[string, () => Record<string, string>]>([
    ['a wrong passcode', () => ({ BANK_PFX_PASSCODE_FILE: file('wrong', 'planted-passcode') })],
    ['a damaged file', () => ({ BANK_PFX_FILE: file('damaged.pfx', pfx().fill(0xa5, 400, 420)) })],
    ['half of a file', () => ({ BANK_PFX_FILE: file('half.pfx', pfx().subarray(0, pfx().length / 2)) })],
    ['a PEM', () => ({ BANK_PFX_FILE: sandbox.files.ca })],
    ['no such file', () => ({ BANK_PFX_FILE: '/nowhere/client.pfx' })],
  ])('%s: exit code 3, one line for people, one for machines', async (_name, change) => {
    const { code, stdout, stderr, refused } = await run(change());
    expect(code).toBe(3);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr.trim().length).toBeGreaterThan(30);
    expect(refused).toMatchObject([{ level: 'fatal' }]);
    expect(stdout + stderr).not.toMatch(/\n\s+at |planted-passcode|ERR_/);
    expect(sandbox.requests).toEqual([]);
  });

  it('its twin: one that has expired does not end it', async () => {
    const hour = 3_600_000;
    const bank = await startPretendBank({
      clientValidity: { notBefore: new Date(Date.now() - 48 * hour), notAfter: new Date(Date.now() - hour) },
    });
    const program = await startProgram({ env: programEnvironment(bank), cwd: directory });
    const url = await program.started();
    expect((await get(`${url}/health/ready`)).status).toBe(503);
    expect((await get(`${url}/api/v1/accounts`)).json.code).toBe('certificate-unusable');
  });
});
