import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { bankForFile, holdAccounts } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { get } from '../support/gateway.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

const start = (env: Record<string, string> = {}) =>
  startProgram({ env: programEnvironment(bank, env), cwd: temporaryDirectory() });
const lists = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;
/** A process that has made its first reading, and one call of a caller that has reached the bank. */
async function startWithCallInFlight(env: Record<string, string> = {}) {
  const program = await start(env);
  const url = await program.started();
  await until(() => program.events('snapshot.refreshed').length === 1);
  const letGo = holdAccounts(bank);
  const inFlight = get(`${url}/api/v1/accounts`, { 'cache-control': 'max-age=0' });
  // looked at later than it may fail
  inFlight.catch(() => undefined);
  await until(() => lists() === 2);
  return { program, url, letGo, inFlight };
}
describe('it stops without losing a call', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: a call in flight is answered, idle connections are closed, exit code 0',
    async (signal) => {
      const { program, url, letGo, inFlight } = await startWithCallInFlight();
      const agent = new Agent({ keepAlive: true });
      const idle = Promise.withResolvers<void>();
      request(`${url}/health/live`, { agent }, (response) => {
        response.resume();
        response.socket.once('close', () => idle.resolve());
      }).end();
      await until(() => Object.keys(agent.freeSockets).length === 1);
      program.child.kill(signal);
      await until(() => program.events('gateway.stopping').length === 1);
      await idle.promise;
      await expect(get(`${url}/health/live`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      letGo();
      const answer = await inFlight;
      expect([answer.status, answer.json.page.total]).toEqual([200, 3]);
      expect(await program.exit).toBe(0);
      agent.destroy();
      expect(program.events('gateway.stopped')).toHaveLength(1);
      expect(program.stderr()).toBe('');
      await until(() => bank.sockets.size === 0);
    },
  );

  it('what is in flight after SHUTDOWN_GRACE_MS is cut off', async () => {
    const { program, inFlight } = await startWithCallInFlight({ SHUTDOWN_GRACE_MS: '200' });
    program.child.kill('SIGTERM');
    const outcome = inFlight.then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect([503, 'ECONNRESET']).toContain(await outcome);
    expect(await program.exit).toBe(0);
  });

  it('SHUTDOWN_DELAY_MS: not ready, but still serving', async () => {
    const program = await start({ SHUTDOWN_DELAY_MS: '1000' });
    const url = await program.started();
    await until(async () => (await get(`${url}/health/ready`)).status === 200);
    program.child.kill('SIGTERM');
    await until(() => program.events('gateway.stopping').length === 1);
    expect((await get(`${url}/health/ready`)).status).toBe(503);
    expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
    expect(await program.exit).toBe(0);
  });

  it('a second signal ends it at once', async () => {
    const { program, inFlight } = await startWithCallInFlight({ SHUTDOWN_GRACE_MS: '60000' });
    program.child.kill('SIGTERM');
    await until(() => program.events('gateway.stopping').length === 1);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(1);
    await inFlight.catch(() => null);
  });

  it('during a token request that nobody waits for and that never ends: it is gone at once as well', async () => {
    bank.onToken = () => undefined;
    const program = await start({ BANK_REQUEST_TIMEOUT_MS: '60000' });
    await program.started();
    await until(() => bank.requests.length === 1);
    program.child.kill('SIGTERM');
    expect(await Promise.race([program.exit, delay(3000, 'still there', { ref: false })])).toBe(0);
  });
});
