import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { cleanUp, makeDirectory } from '../support/sandbox.js';
import { get } from '../support/gateway.js';
import { endPrograms, startProgram } from '../support/program.js';
import { until } from '../support/until.js';

afterEach(async () => {
  await endPrograms();
  await cleanUp();
});

const FREE = { PORT: '0', SANDBOX_PORT: '0', SANDBOX_CONTROL_PORT: '0' };
const isOpen = (url: string) =>
  new Promise<boolean>((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

describe('the sandbox starts with one command', () => {
  it('serve --sandbox: 120 accounts out of nothing, said to be a sandbox, and nothing is left when it stops', async () => {
    const cwd = makeDirectory();
    const program = await startProgram({ args: ['serve', '--sandbox'], env: FREE, cwd });
    const url = await program.started();
    expect((await get(`${url}/api/v1/accounts`)).json.page.total).toBe(120);
    expect(program.events('gateway.started')).toMatchObject([{ mode: 'sandbox', route: 'direct', url }]);
    expect((await get(`${url}/health`)).json.details.bank.mode).toBe('sandbox');
    expect(program.stderr()).toMatch(/sandbox/i);
    const directory = join(cwd, '.sandbox');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toEqual(
      expect.arrayContaining(['ca.pem', 'client.pfx', 'passcode', 'username', 'password']),
    );
    const control = /http:\/\/[\d.:]+(?=\/control)/.exec(program.stderr())?.[0] ?? '';
    expect(await isOpen(control)).toBe(true);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expect([await isOpen(control), await isOpen(url)]).toEqual([false, false]);
    expect(readdirSync(cwd)).toEqual(['.sandbox']);
  });

  it('settings of a bank are ignored, with one warning that names them; a proxy is not used', async () => {
    const env = {
      ...FREE,
      BANK_BASE_URL: 'https://bank.invalid',
      BANK_USERNAME: 'planted-user',
      BANK_PASSWORD_FILE: '/nowhere',
      HTTPS_PROXY: 'http://127.0.0.1:1',
    };
    const program = await startProgram({ args: ['serve', '--sandbox'], env, cwd: makeDirectory() });
    const url = await program.started();
    expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
    const warnings = program.events('config.warning').map(({ msg }) => String(msg));
    expect(warnings).toHaveLength(1);
    for (const name of ['BANK_BASE_URL', 'BANK_USERNAME', 'BANK_PASSWORD_FILE']) expect(warnings[0]).toContain(name);
    expect(program.stdout()).not.toContain('planted-user');
  });

  it('sandbox: the bank alone, in production too, without needing a bank', async () => {
    const program = await startProgram({
      args: ['sandbox'],
      env: { ...FREE, NODE_ENV: 'production' },
      cwd: makeDirectory(),
    });
    const said = () => program.stdout() + program.stderr();
    await until(() => /\/control/.test(said()), 10_000);
    const control = /http:\/\/[\d.:]+(?=\/control)/.exec(said())?.[0] ?? '';
    expect((await get(`${control}/control`)).json).toMatchObject({ accounts: 120, tokensIssued: 0 });
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  });
});
