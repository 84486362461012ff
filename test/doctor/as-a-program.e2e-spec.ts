import { describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DoctorReport } from '../../src/operations/doctor/examine.js';
import { bankForFile } from '../support/bank-for-file.js';
import { expectWellFormed } from '../support/examination.js';
import { toEnvironment } from '../support/bank-address.js';
import { startProgram } from '../support/program.js';
import { temporaryDirectory } from '../support/closing.js';
import { directoryWithIdentity } from '../support/sandbox.js';
import { startRawServer } from '../support/servers.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

/** Runs the doctor until it exits. */
async function doctor(args: readonly string[], env: Record<string, string> = {}, cwd = temporaryDirectory()) {
  const { exit, stdout, stderr } = await startProgram({ args: ['doctor', ...args], env, cwd });
  return { code: await exit, stdout: stdout(), stderr: stderr() };
}

describe('node dist/main.js doctor', () => {
  it('exits with 0 on a healthy sandbox', async () => {
    const { code, stdout, stderr } = await doctor(['--sandbox'], { SANDBOX_DIRECTORY: directoryWithIdentity() });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/doctor \(sandbox\)/);
    expect(stdout.match(/^✓ /gm)).toHaveLength(8);
    expect(stdout).toContain('All steps succeeded.');
  });

  it('stops at settings with exit code 2, which it explains to people', async () => {
    const { code, stdout, stderr } = await doctor([]);
    expect([code, stderr]).toEqual([2, '']);
    expect(stdout).toContain('✗ settings');
  });

  it('stops at dns with exit code 4, which --json reports to programs', async () => {
    const env = { ...toEnvironment(bank), BANK_AUTH_URL: '', BANK_BASE_URL: 'https://no-such-bank.invalid' };
    const { code, stdout, stderr } = await doctor(['--json'], env);
    expect([code, stderr]).toEqual([4, '']);
    const report = JSON.parse(stdout) as DoctorReport;
    expectWellFormed(report);
    expect(report.steps.find(({ status }) => status === 'failed')?.name).toBe('dns');
  });

  it('reads .env, and sends nothing with --offline', async () => {
    const directory = temporaryDirectory();
    const lines = Object.entries({ ...toEnvironment(bank), BANK_BASE_URL: 'https://no-such-bank.invalid' });
    writeFileSync(join(directory, '.env'), lines.map(([name, value]) => `${name}=${value}`).join('\n'));
    const asked = bank.requests.length;
    const { code, stdout } = await doctor(['--offline', '--json'], {}, directory);
    expect(code).toBe(0);
    const { steps } = JSON.parse(stdout) as DoctorReport;
    expect(steps.map(({ status }) => status).slice(2)).toEqual(Array(6).fill('skipped'));
    expect(bank.requests).toHaveLength(asked);
  });

  it('ends at once on ^C during a step', async () => {
    const { port } = await startRawServer(() => undefined);
    const change = { BANK_BASE_URL: `https://127.0.0.1:${port}`, BANK_CONNECT_TIMEOUT_MS: '60000' };
    const env = { ...toEnvironment(bank), ...change };
    const { child, exit, stdout } = await startProgram({ args: ['doctor'], env, cwd: temporaryDirectory() });
    await until(() => stdout().includes('✓ dns'));
    child.kill('SIGINT');
    // as shells do: 128 + the number of the signal
    expect(await exit).toBe(130);
  });
});
