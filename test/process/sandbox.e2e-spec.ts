import { readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { warnOfNode } from '../../src/cli/node-floor.js';
import { temporaryDirectory } from '../support/closing.js';
import { get } from '../support/call.js';
import { startProgram, type Program } from '../support/program.js';
import { directoryWithIdentity } from '../support/sandbox.js';
import { until } from '../support/until.js';

const FREE = { PORT: '0', SANDBOX_PORT: '0', SANDBOX_CONTROL_PORT: '0' };
const isOpen = (url: string) =>
  new Promise<boolean>((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/**
 * Resetting the switches ends the back-off that they caused; turning one on neither resets nor logs anything of the
 * kind.
 */
async function expectResetEndsBackOff(program: Program, url: string, control: string): Promise<void> {
  const ask = async () => (await get(`${url}/api/v1/accounts`)).json.code as string | undefined;
  expect(await ask()).toBeUndefined();
  await fetch(control, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ revokeTokens: true, failNext: { endpoint: 'authorize', times: 1, with: '401' } }),
  });
  await until(async () => (await ask()) === 'credentials-rejected');
  // the bank would issue a token again, but the back-off is at least half a minute
  expect(await ask()).toBe('credentials-rejected');
  expect(program.events('sandbox.reset')).toEqual([]);
  await fetch(control, { method: 'DELETE' });
  await until(async () => (await ask()) === undefined);
  expect(program.events('sandbox.reset')).toHaveLength(1);
}

describe('the command', () => {
  it('serve --sandbox has 120 accounts without settings, ignores those of a bank with one warning, has switches whose reset ends a back-off, and leaves nothing behind', async () => {
    const cwd = temporaryDirectory();
    const ignored = {
      BANK_USERNAME: 'planted-user',
      BANK_PASSWORD_FILE: '/nowhere',
      HTTPS_PROXY: 'http://127.0.0.1:1',
    };
    const env = { ...FREE, ...ignored, SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' };
    const program = await startProgram({ args: ['serve', '--sandbox'], env, cwd });
    const url = await program.started();
    // pages from dev servers may call it
    const origin = 'http://localhost:5173';
    const answer = await get(`${url}/api/v1/accounts`, {
      origin,
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'cors',
    });
    expect([answer.json.page.total, answer.headers['access-control-allow-origin']]).toEqual([120, origin]);
    expect(program.stderr()).toContain(`npm pack ${url}/client/accounts-gateway-client-`);
    expect(program.events('config.warning')).toMatchObject([
      ...warnOfNode(process.versions.node).map((msg) => ({ msg })),
      { msg: '--sandbox ignores these settings: BANK_USERNAME, BANK_PASSWORD_FILE' },
    ]);
    expect(program.stdout()).not.toContain('planted-user');
    expect(program.events('gateway.started')).toMatchObject([{ mode: 'sandbox', route: 'direct', url }]);
    expect((await get(`${url}/health`)).json.details.bank.mode).toBe('sandbox');
    expect(program.stderr()).toMatch(/sandbox/i);
    const directory = join(cwd, '.sandbox');
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toEqual(
      expect.arrayContaining(['ca.pem', 'client.pfx', 'passcode', 'username', 'password']),
    );
    const control = /http:\/\/[\d.:]+(?=\/control)/.exec(program.stderr())?.[0] ?? '';
    await expectResetEndsBackOff(program, url, `${control}/control`);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expect([await isOpen(control), await isOpen(url)]).toEqual([false, false]);
    expect(readdirSync(cwd)).toEqual(['.sandbox']);
  });

  it('sandbox ends with a signal during startup, even if startup hangs', async () => {
    const hang = `
      import fs from 'node:fs/promises';
      import { syncBuiltinESMExports } from 'node:module';
      fs.mkdir = () => new Promise(() => { setInterval(() => undefined, 1000); process.stderr.write('hangs'); });
      syncBuiltinESMExports();`;
    const nodeFlags = [`--import=data:text/javascript,${encodeURIComponent(hang)}`];
    const program = await startProgram({ args: ['sandbox'], env: FREE, cwd: temporaryDirectory(), nodeFlags });
    await until(() => program.stderr() === 'hangs');
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  });

  it('sandbox runs the bank alone, also in production and without bank settings', async () => {
    const program = await startProgram({
      args: ['sandbox'],
      env: { ...FREE, NODE_ENV: 'production', SANDBOX_DIRECTORY: directoryWithIdentity() },
      cwd: temporaryDirectory(),
    });
    const said = () => program.stdout() + program.stderr();
    // it cannot end the back-off of a gateway in another process
    await until(() => said().includes('kill -HUP'));
    const control = /http:\/\/[\d.:]+(?=\/control)/.exec(said())?.[0] ?? '';
    expect((await get(`${control}/control`)).json).toMatchObject({ accounts: 120, tokensIssued: 0 });
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
  });
});
