import { describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DoctorReport } from '../../src/operations/doctor/examine.js';
import { bankForFile } from '../support/bank-for-file.js';
import { expectWellFormed } from '../support/examination.js';
import { toEnvironment } from '../support/bank-address.js';
import { startProgram } from '../support/program.js';
import { temporaryDirectory } from '../support/closing.js';
import { control, directoryWithIdentity, start } from '../support/sandbox.js';
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

  it('stops at settings with exit code 2, explained for people', async () => {
    const { code, stdout, stderr } = await doctor([]);
    expect([code, stderr]).toEqual([2, '']);
    expect(stdout).toContain('✗ settings');
  });

  it('prints every step for the cause: where the bank resets unlisted addresses, the allowlist too', async () => {
    const firewalled = await start({ SANDBOX_ALLOWED_IPS: [] });
    await control(firewalled, 'PATCH', { unlisted: 'reset' });
    const { code, stdout } = await doctor([], { ...toEnvironment(firewalled), EGRESS_PUBLIC_ADDRESS: '203.0.113.7' });
    // route, if the reset arrives before the connection is reported as open, else tls
    expect([5, 6]).toContain(code);
    expect(stdout).toMatch(
      /^What to do +Report it to the network team\..*ask the bank whether our address is on its allowlist.*\n +.*Has ours \(`EGRESS_PUBLIC_ADDRESS`\) changed/ms,
    );
    expect(stdout).not.toContain('](');
  });

  it('says that nothing is left unchecked where the last step fails', async () => {
    const malformed = await start();
    await control(malformed, 'PATCH', { failNext: { endpoint: 'accounts', times: 2, with: 'malformed' } });
    const { code, stdout } = await doctor([], toEnvironment(malformed));
    expect(code).toBe(9);
    expect(stdout).toMatch(/^Not checked +nothing$/m);
  });

  it('stops at dns with exit code 4, reported for programs with --json', async () => {
    const env = { ...toEnvironment(bank), BANK_AUTH_URL: '', BANK_BASE_URL: 'https://no-such-bank.invalid' };
    const { code, stdout, stderr } = await doctor(['--json'], env);
    expect([code, stderr]).toEqual([4, '']);
    const report = JSON.parse(stdout) as DoctorReport;
    expectWellFormed(report);
    // getent asks as the gateway does, from /etc/hosts too, and every Linux has it
    expect(report.steps.find(({ status }) => status === 'failed')).toMatchObject({
      name: 'dns',
      remedy: expect.stringContaining(': getent hosts '),
    });
  });

  it('reports an error of the settings if a sandbox cannot start', async () => {
    const env = { SANDBOX_DIRECTORY: temporaryDirectory(), SANDBOX_HOST: '192.0.2.1' };
    const { code, stdout } = await doctor(['--sandbox', '--json'], env);
    expect(code).toBe(2);
    const [settings] = (JSON.parse(stdout) as DoctorReport).steps;
    expect(settings).toMatchObject({
      code: 'config-invalid',
      owner: 'operator',
      problem: expect.stringContaining('SANDBOX_HOST'),
    });
  });

  it('reads .env, and sends nothing with --offline', async () => {
    const directory = temporaryDirectory();
    const lines = Object.entries({ ...toEnvironment(bank), BANK_BASE_URL: 'https://no-such-bank.invalid' });
    writeFileSync(join(directory, '.env'), lines.map(([name, value]) => `${name}=${value}`).join('\n'));
    const asked = bank.requests.length;
    const { code, stdout } = await doctor(['--offline', '--json'], {}, directory);
    expect(code).toBe(0);
    const { steps } = JSON.parse(stdout) as DoctorReport;
    expect(steps[0]?.facts).toMatchObject({ envFile: join(directory, '.env') });
    expect(steps.map(({ status }) => status).slice(2)).toEqual(Array(6).fill('skipped'));
    expect(bank.requests).toHaveLength(asked);
  });

  it.each([[['doctor']], [['--json', 'doctor']], [['probe']]])(
    'and probe end at once on ^C, with exit code 130: %j',
    async (args) => {
      const server = await startRawServer();
      const { port } = server;
      const change = {
        BANK_BASE_URL: `https://127.0.0.1:${port}`,
        BANK_CONNECT_TIMEOUT_MS: '60000',
        PORT: String(port),
      };
      const env = { ...toEnvironment(bank), ...change };
      const { child, exit } = await startProgram({ args, env, cwd: temporaryDirectory() });
      await until(() => server.accepted > 0);
      child.kill('SIGINT');
      // like shells: 128 + the signal number
      expect(await exit).toBe(130);
    },
  );
});
