import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryDirectory } from '../support/closing.js';
import { get } from '../support/gateway.js';
import { startProgram } from '../support/program.js';
import { until } from '../support/until.js';

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
    const cwd = temporaryDirectory();
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

  it('pages of a dev server may call it, whatever its port; others may not', async () => {
    const program = await startProgram({ args: ['serve', '--sandbox'], env: FREE, cwd: temporaryDirectory() });
    const url = await program.started();
    // from http://localhost, http://127.0.0.1 is another site
    const site = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:4200', 'http://localhost']) {
      const { status, headers } = await get(`${url}/api/v1/accounts?pageSize=1`, { origin, ...site });
      expect([origin, status, headers['access-control-allow-origin']]).toEqual([origin, 200, origin]);
    }
    for (const origin of [
      'https://localhost:5173',
      'http://localhost.evil.example',
      'http://localhost:5173.evil.example',
    ]) {
      const { status, headers } = await get(`${url}/api/v1/accounts?pageSize=1`, { origin, ...site });
      expect([origin, status, headers['access-control-allow-origin']]).toEqual([origin, 403, undefined]);
    }
    // and how to call it is said where it started
    const lines = program.stderr();
    expect(lines).toContain(`fetch('${url}/api/v1/accounts?pageSize=5')`);
    expect(lines).toContain(`proxy: { '/api': '${url}' }`);
  });

  it('the counterpart: origins that are listed replace those', async () => {
    const env = { ...FREE, CORS_ORIGINS: 'http://localhost:4200' };
    const program = await startProgram({ args: ['serve', '--sandbox'], env, cwd: temporaryDirectory() });
    const url = await program.started();
    const allowed = async (origin: string) =>
      (await get(`${url}/api/v1/accounts?pageSize=1`, { origin })).headers['access-control-allow-origin'];
    expect(await allowed('http://localhost:4200')).toBe('http://localhost:4200');
    expect(await allowed('http://localhost:5173')).toBeUndefined();
  });

  it('setting the switches back ends the waiting after the failures they made', async () => {
    const env = { ...FREE, SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' };
    const program = await startProgram({ args: ['serve', '--sandbox'], env, cwd: temporaryDirectory() });
    const url = await program.started();
    const control = `${/http:\/\/[\d.:]+(?=\/control)/.exec(program.stderr())?.[0]}/control`;
    const ask = async () => (await get(`${url}/api/v1/accounts`)).json.code as string | undefined;
    expect(await ask()).toBeUndefined();
    await fetch(control, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ revokeTokens: true, failNext: { endpoint: 'authorize', times: 1, with: '401' } }),
    });
    await until(async () => (await ask()) === 'credentials-rejected', 10_000);
    // the bank would give a token again, but is not asked for at least half a minute
    expect(await ask()).toBe('credentials-rejected');
    await fetch(control, { method: 'DELETE' });
    await until(async () => (await ask()) === undefined, 5000);
  });

  it('settings of a bank are ignored, with one warning that names them; a proxy is not used', async () => {
    const env = {
      ...FREE,
      BANK_BASE_URL: 'https://bank.invalid',
      BANK_USERNAME: 'planted-user',
      BANK_PASSWORD_FILE: '/nowhere',
      HTTPS_PROXY: 'http://127.0.0.1:1',
    };
    const program = await startProgram({ args: ['serve', '--sandbox'], env, cwd: temporaryDirectory() });
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
      cwd: temporaryDirectory(),
    });
    const said = () => program.stdout() + program.stderr();
    // it cannot reach the gateway that it shows failures to
    await until(() => said().includes('kill -HUP'), 15_000);
    const control = /http:\/\/[\d.:]+(?=\/control)/.exec(said())?.[0] ?? '';
    expect((await get(`${control}/control`)).json).toMatchObject({ accounts: 120, tokensIssued: 0 });
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  });
});
