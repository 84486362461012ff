import { describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DoctorReport } from '../../src/doctor/examine.js';
import { bankForFile } from '../support/bank-for-file.js';
import { expectWellFormed } from '../support/examination.js';
import { toEnvironment } from '../support/gateway.js';
import { issueToken, json } from '../support/pretend-bank.js';
import { startProgram } from '../support/program.js';
import { temporaryDirectory } from '../support/closing.js';
import { startConnectProxy, withCredentials } from '../support/connect-proxy.js';
import { startRawServer } from '../support/servers.js';
import { PLANTED } from '../support/sample-accounts.js';

const bank = await bankForFile();
const sandboxDirectory = temporaryDirectory();

interface RunOptions {
  readonly cwd?: string;
  /** Sent when this text has come on standard output. */
  readonly signalAfter?: readonly [text: string, signal: NodeJS.Signals];
}

/** Runs the doctor to its end. */
async function doctor(args: readonly string[], env: Record<string, string> = {}, options: RunOptions = {}) {
  const { cwd = temporaryDirectory(), signalAfter } = options;
  const { child, exit, stdout, stderr } = await startProgram({ args: ['doctor', ...args], env, cwd });
  const started = performance.now();
  let lastWord = started;
  let sent = false;
  child.stdout?.on('data', () => {
    lastWord = performance.now();
    if (signalAfter && !sent && stdout().includes(signalAfter[0])) sent = child.kill(signalAfter[1]);
  });
  const code = await exit;
  const ended = performance.now();
  return {
    code,
    stdout: stdout(),
    stderr: stderr(),
    ms: ended - started,
    /** How long it went on after its last word. */
    lingeredMs: ended - lastWord,
  };
}

describe('node dist/main.js doctor', () => {
  const read = (file: string) => readFileSync(file, 'utf8');

  it('is done with a healthy sandbox, and ends as soon as it has said so', async () => {
    const { code, stdout, stderr, lingeredMs } = await doctor(['--sandbox'], { SANDBOX_DIRECTORY: sandboxDirectory });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/doctor \(sandbox\)/);
    expect(stdout.match(/^✓ /gm)).toHaveLength(8);
    expect(stdout).toContain('All steps succeeded.');
    expect(lingeredMs).toBeLessThan(3000);
  });

  it.each([
    ['settings', 2, {}],
    ['dns', 4, { BANK_BASE_URL: 'https://no-such-bank.invalid' }],
  ])('ends at %s with code %i, to people and to machines', async (step, exit, change) => {
    const env = step === 'settings' ? {} : { ...toEnvironment(bank), BANK_AUTH_URL: '', ...change };
    const [people, machines] = await Promise.all([doctor([], env), doctor(['--json'], env)]);
    expect([people.code, machines.code, people.stderr, machines.stderr]).toEqual([exit, exit, '', '']);
    expect(people.stdout).toContain(`✗ ${step}`);
    const report = JSON.parse(machines.stdout) as DoctorReport;
    expectWellFormed(report);
    expect(report.steps.find(({ status }) => status === 'failed')?.name).toBe(step);
  });

  it('reads .env, and stays on this machine with --offline', async () => {
    const directory = temporaryDirectory();
    const lines = Object.entries({ ...toEnvironment(bank), BANK_BASE_URL: 'https://no-such-bank.invalid' });
    writeFileSync(join(directory, '.env'), lines.map(([name, value]) => `${name}=${value}`).join('\n'));
    const asked = bank.requests.length;
    const { code, stdout } = await doctor(['--offline', '--json'], {}, { cwd: directory });
    expect(code).toBe(0);
    const { steps } = JSON.parse(stdout) as DoctorReport;
    expect(steps.map(({ status }) => status).slice(2)).toEqual(Array(6).fill('skipped'));
    expect(bank.requests).toHaveLength(asked);
  });

  it('never prints a secret, however it fails', async () => {
    const { url } = await startConnectProxy();
    const proxy = withCredentials(url, 'secret-proxy-user', 'secret-p@ss');
    const secrets = [
      bank.username,
      bank.password,
      read(bank.files.passcode),
      'secret-proxy-user',
      'secret-p@ss',
      'secret-p%40ss',
    ];
    const shown: string[] = [];
    const run = async (env: Record<string, string> = {}) => {
      const settings = { ...toEnvironment(bank), EGRESS_PROXY_URL: proxy.href, ...env };
      const runs = await Promise.all([doctor([], settings), doctor(['--json'], settings)]);
      for (const { stdout, stderr } of runs) shown.push(stdout, stderr);
    };
    await run();
    bank.onToken = (_request, response) => json(response, 401, PLANTED);
    await run();
    bank.onToken = issueToken(bank);
    bank.onAccounts = (_request, response) => json(response, 200, { result: [PLANTED] });
    await run();
    // a wrong scheme, so that the settings fail on values that hold secrets
    await run({
      EGRESS_PROXY_URL: proxy.href.replace('http:', 'socks:'),
      BANK_BASE_URL: 'https://u:secret-in-url@bank',
    });
    const basic = (pair: string) => Buffer.from(pair).toString('base64');
    secrets.push(basic(`${bank.username}:${bank.password}`), basic('secret-proxy-user:secret-p@ss'), 'secret-in-url');
    const all = shown.join('');
    for (const secret of [...secrets, ...bank.tokens, ...Object.values(PLANTED), 'PRIVATE KEY']) {
      expect({ secret, shown: all.includes(secret) }).toEqual({ secret, shown: false });
    }
    expect(bank.tokens.length).toBeGreaterThanOrEqual(4);
    expect(all).toContain('credentials-rejected');
  });

  it('ends at once on ^C in the middle of a step', async () => {
    const { port } = await startRawServer(() => undefined);
    const env = {
      ...toEnvironment(bank),
      BANK_BASE_URL: `https://127.0.0.1:${port}`,
      BANK_CONNECT_TIMEOUT_MS: '60000',
    };
    const { code, stderr, ms } = await doctor([], env, { signalAfter: ['✓ dns', 'SIGINT'] });
    // as a shell has it: 128 and the number of the signal
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expect(ms).toBeLessThan(8000);
  });

  it('names the setting when the sandbox cannot be started', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    const { code, stdout } = await doctor(['--sandbox', '--json'], { SANDBOX_DIRECTORY: join(directory, 'file') });
    expect(code).toBe(2);
    const [settings] = (JSON.parse(stdout) as DoctorReport).steps;
    expect(settings).toMatchObject({ code: 'config-invalid', problem: expect.stringContaining('SANDBOX_DIRECTORY') });
  });
});
