import { spawnSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { get } from '../support/gateway.js';
import { programEnvironment, startProgram, type Program } from '../support/program.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { hasPrlimit } from '../support/tools.js';
import { until } from '../support/until.js';

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
  it('SIGKILL in the middle of a call, and a restart: it serves again at once, with a token of its own', async () => {
    const at = { PORT: String(await closedPort()) };
    const first = await start(at);
    const url = await first.started();
    // the reading that each start makes
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

  it('SIGUSR1 opens no inspector, and the process lives', async () => {
    const program = await start();
    const url = await program.started();
    program.child.kill('SIGUSR1');
    for (let times = 0; times < 5; times++) expect((await get(`${url}/health/live`)).status).toBe(200);
    expect(program.stderr()).not.toMatch(/debugger/i);
    await expectGoodEnd(program);
  });

  it('SIGTERM while it starts: it ends, with code 0, without ever serving', async () => {
    const program = await start();
    await until(() => program.events('certificate.loaded').length === 1, 15_000);
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expectNoSecret(program.stdout() + program.stderr(), secretsOf(bank));
    await until(() => bank.sockets.size === 0);
  });

  it('a heap of 96 MB is enough for 1000 accounts, read again and again under callers', async () => {
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
    '64 file descriptors under 200 connections: it lives, and serves when they are gone',
    async () => {
      const program = await start({ SNAPSHOT_FRESH_MS: '0' });
      const url = await program.started();
      expect((await get(`${url}/api/v1/accounts`)).status).toBe(200);
      expect(spawnSync('prlimit', ['--pid', String(program.child.pid), '--nofile=64:64']).status).toBe(0);
      const port = Number(new URL(url).port);
      const sockets: Socket[] = [];
      for (let each = 0; each < 200; each++) {
        sockets.push(connect(port, '127.0.0.1').on('error', () => undefined));
      }
      // the bank can be asked over a kept connection at best: what comes must be an answer, or none
      const during = await Promise.allSettled(
        sockets.slice(0, 10).map(() => get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' })),
      );
      expect(during).toHaveLength(10);
      for (const each of during) {
        if (each.status === 'fulfilled') expect([200, 502, 503, 504]).toContain(each.value.status);
      }
      for (const socket of sockets) socket.destroy();
      // those that waited in the queue of the listening socket are let in and dropped first
      const status = () =>
        get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' }).then(
          (answer) => answer.status,
          () => null,
        );
      await until(async () => (await status()) === 200, 15_000);
      await expectGoodEnd(program);
    },
  );
});
