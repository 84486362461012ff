import { spawnSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { get, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken } from '../support/pretend-bank.js';
import { type Program, programEnvironment, startProgram } from '../support/program.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { hasPrlimit, pathOf } from '../support/tools.js';
import { until } from '../support/until.js';

const HOUR_MS = 3_600_000;
const bank = await bankForFile();

const start = (env: Record<string, string> = {}, nodeFlags: string[] = []) =>
  startProgram({ env: programEnvironment(bank, env), cwd: bank.directory, nodeFlags });

async function expectGoodEnd(program: Program): Promise<void> {
  program.child.kill('SIGTERM');
  expect(await program.exit).toBe(0);
  expect(program.stderr()).toBe('');
  expectNoSecret(program.stdout(), secretsOf(bank));
  expect(bank.most.token).toBe(1);
  await until(() => bank.sockets.size === 0);
}

describe('the process and its host', () => {
  it('after a SIGKILL during a call and a restart, the gateway serves at once with a new token', async () => {
    const at = { PORT: String(await closedPort()) };
    const first = await start(at);
    const url = await first.started();
    // the refresh at each start
    await until(() => first.events('snapshot.refreshed').length === 1);
    bank.onAccounts = () => undefined;
    const cut = get(`${url}/api/v1/accounts`, { 'cache-control': 'max-age=0' }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    await until(() => bank.requests.length === 3);
    first.child.kill('SIGKILL');
    expect(await first.exit).toBeNull();
    expect(await cut).toBe('ECONNRESET');
    await until(() => bank.sockets.size === 0);

    bank.onAccounts = listSample();
    const second = await start(at);
    expect(await second.started()).toBe(url);
    expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
    expect(bank.tokens).toHaveLength(2);
    await expectGoodEnd(second);
  });

  it.each<[string, string[]]>([
    ['', []],
    [', started without --disable-sigusr1', ['--no-disable-sigusr1']],
  ])('SIGUSR1 opens no inspector in production%s, and the process survives', async (_how, nodeFlags) => {
    const program = await start({ NODE_ENV: 'production' }, nodeFlags);
    const url = await program.started();
    program.child.kill('SIGUSR1');
    for (let times = 0; times < 5; times++) expect((await get(`${url}/health/live`)).status).toBe(200);
    expect(program.stderr()).not.toMatch(/debugger/i);
    await expectGoodEnd(program);
  });

  it('a heap of 96 MB is enough for 1000 accounts with continuous refreshes and callers', async () => {
    bank.onAccounts = listSample(1000);
    const program = await start({ SNAPSHOT_FRESH_MS: '0' }, ['--max-old-space-size=96']);
    const url = await program.started();
    for (let times = 0; times < 5; times++) {
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, page) => get(`${url}/api/v1/accounts?pageSize=100&pageNumber=${page + 1}`)),
      );
      expect(all.map(({ status, json }) => [status, json.page?.total])).toEqual(all.map(() => [200, 1000]));
    }
    await expectGoodEnd(program);
  });

  (hasPrlimit() ? it : it.skip)(
    '64 file descriptors survive 200 connections, and callers are served afterwards',
    async () => {
      const program = await start({ SNAPSHOT_FRESH_MS: '0' });
      const url = await program.started();
      expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
      expect(spawnSync(pathOf('prlimit'), ['--pid', String(program.child.pid), '--nofile=64:64']).status).toBe(0);
      const port = Number(new URL(url).port);
      const sockets: Socket[] = [];
      for (let each = 0; each < 200; each++) {
        sockets.push(connect(port, '127.0.0.1').on('error', () => undefined));
      }
      // the bank is reachable over a kept connection at best: each caller gets a complete response or none
      const during = await Promise.allSettled(
        sockets.slice(0, 10).map(() => get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' })),
      );
      expect(during).toHaveLength(10);
      for (const each of during) {
        if (each.status === 'fulfilled') expect([200, 502, 503, 504]).toContain(each.value.status);
      }
      for (const socket of sockets) socket.destroy();
      // connections in the queue of the listener are accepted and dropped first
      const status = () =>
        get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' }).then(
          (answer) => answer.status,
          () => null,
        );
      await until(async () => (await status()) === 200);
      await expectGoodEnd(program);
    },
  );
});

describe('clocks', () => {
  const LIFETIME_MS = 2000;
  const SLEEP_MS = 2500;
  const CALLERS = 50;
  const tokenRequests = () => bank.requests.filter(({ path }) => path.includes('authorize')).length;

  async function ask(url: string) {
    const answer = await get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' });
    expect([answer.status, answer.json.snapshot?.stale, answer.json.page?.total]).toEqual([200, false, 3]);
  }

  it(`a process that is suspended for longer than a token life makes one token request and one refresh for ${CALLERS} callers`, async () => {
    bank.onToken = issueToken(bank, { expires_in: LIFETIME_MS / 1000 });
    const program = await start({ SNAPSHOT_FRESH_MS: '0', LOG_LEVEL: 'trace' });
    const url = await program.started();
    await ask(url);
    // the next token outlives the test
    bank.onToken = issueToken(bank);
    const before = { tokens: tokenRequests(), all: bank.requests.length };
    program.child.kill('SIGSTOP');
    const asleepUntil = performance.now() + SLEEP_MS;
    const waiting = Promise.all(Array.from({ length: CALLERS }, () => ask(url)));
    await until(() => performance.now() > asleepUntil, SLEEP_MS + 1000);
    program.child.kill('SIGCONT');
    await waiting;
    expect(tokenRequests()).toBe(before.tokens + 1);
    expect(bank.requests.length - before.all).toBeLessThanOrEqual(3);
    // the old token was not sent
    expect(bank.requests.at(-1)?.headers.authorization).toBe(`Bearer ${bank.tokens.at(-1)}`);
    await expectGoodEnd(program);
  });

  it.each([HOUR_MS, -HOUR_MS])(
    "somebody sets the machine's clock by %i ms, and back: no error, no storm",
    async (step) => {
      const clock = new MovedClock();
      const { url, events } = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' }, clock);
      await ask(url);
      for (const byMs of [step, -step]) {
        const before = tokenRequests();
        clock.moveWall(byMs);
        await Promise.all(Array.from({ length: 10 }, () => ask(url)));
        // one after the step, and one more if a renewal was due anyway
        expect(tokenRequests() - before).toBeLessThanOrEqual(2);
      }
      expect(events('request.failed')).toEqual([]);
    },
  );
});
