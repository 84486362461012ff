import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { get } from '../support/gateway.js';
import { issueToken, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { type Program, programEnvironment, startProgram } from '../support/program.js';
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
    // the refresh that each start makes
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

describe('clocks', () => {
  const LIFETIME_MS = 2000;
  const SLEEP_MS = 2500;
  const HOUR_MS = 3_600_000;
  const CALLERS = 50;

  let bank: PretendBank;
  let arrivals: { readonly token: string; readonly ageMs: number }[];

  beforeEach(async () => {
    bank = await startPretendBank();
    arrivals = [];
    const issuedAt = new Map<string, number>();
    const issue = issueToken(bank, { expires_in: LIFETIME_MS / 1000 });
    bank.onToken = (...args) => {
      issue(...args);
      issuedAt.set(bank.tokens.at(-1) ?? '', performance.now());
    };
    const list = listSample();
    bank.onAccounts = (request, response, url) => {
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      arrivals.push({ token, ageMs: performance.now() - (issuedAt.get(token) ?? 0) });
      list(request, response, url);
    };
  });

  const ENV = { SNAPSHOT_FRESH_MS: '0', LOG_LEVEL: 'trace' };
  const tokenRequests = () => bank.requests.filter(({ path }) => path.includes('authorize')).length;
  const refreshes = () => bank.requests.length - tokenRequests();

  async function ask(url: string) {
    const answer = await get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' });
    expect([answer.status, answer.json.snapshot?.stale, answer.json.page?.total]).toEqual([200, false, 3]);
  }

  /** All that must hold at the end of a process that went through it. */
  async function expectGoodEnd(program: Program): Promise<void> {
    expect(bank.most.token).toBe(1);
    expect(Math.max(...arrivals.map(({ ageMs }) => ageMs))).toBeLessThan(LIFETIME_MS);
    expectNoSecret(program.stdout() + program.stderr(), secretsOf(bank));
    program.child.kill('SIGTERM');
    expect(await program.exit).toBe(0);
    expect(program.stderr()).toBe('');
    expect(program.events('request.failed')).toEqual([]);
    await until(() => bank.sockets.size === 0);
  }

  describe('a process that is stopped for longer than a token lives, then goes on', () => {
    it(`${CALLERS} callers wait for it: the old token is not sent, one new one is asked for, one refresh serves all`, async () => {
      const program = await startProgram({ env: programEnvironment(bank, ENV), cwd: bank.directory });
      const url = await program.started();
      await ask(url);
      const before = { tokens: tokenRequests(), refreshes: refreshes() };
      program.child.kill('SIGSTOP');
      const asleepUntil = performance.now() + SLEEP_MS;
      const waiting = Promise.all(Array.from({ length: CALLERS }, () => ask(url)));
      await until(() => performance.now() > asleepUntil, SLEEP_MS + 1000);
      program.child.kill('SIGCONT');
      await waiting;
      expect(tokenRequests()).toBe(before.tokens + 1);
      expect(refreshes()).toBeLessThanOrEqual(before.refreshes + 2);
      expect(arrivals.at(-1)?.token).toBe(bank.tokens.at(-1));
      await expectGoodEnd(program);
    });
  });

  /** Loaded into the program: its wall clock is off by what a file says, looked at on SIGUSR2. */
  const CLOCK_SHIM = `
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
const { now } = Date;
let offset = 0;
Date.now = () => now() + offset;
process.on('SIGUSR2', () => {
  offset = Number(readFileSync(process.env.CLOCK_OFFSET, 'utf8'));
  writeFileSync(process.env.CLOCK_OFFSET + '.new', '');
  renameSync(process.env.CLOCK_OFFSET + '.new', process.env.CLOCK_OFFSET + '.taken');
});
`;

  describe("somebody sets the machine's clock", () => {
    it.each([
      ['an hour on, and back again', [HOUR_MS, 0]],
      ['an hour back, and on again', [-HOUR_MS, 0]],
    ])('%s: no error, no old token, no storm', async (_name, steps) => {
      const offset = join(bank.directory, 'offset');
      const shim = join(bank.directory, 'clock.mjs');
      writeFileSync(shim, CLOCK_SHIM);
      const env = programEnvironment(bank, { ...ENV, CLOCK_OFFSET: offset });
      const program = await startProgram({ env, cwd: bank.directory, nodeFlags: [`--import=${shim}`] });
      const url = await program.started();
      await ask(url);
      for (const step of steps) {
        const before = { tokens: tokenRequests(), refreshes: refreshes() };
        const lines = program.events('request').length;
        writeFileSync(offset, String(step));
        program.child.kill('SIGUSR2');
        await until(() => wasTaken(offset));
        const askedFor = Array.from({ length: 10 }, () => ask(url));
        await Promise.all(askedFor);
        await ask(url);
        // one at the step, and one more where a renewal was due anyhow
        expect(tokenRequests() - before.tokens).toBeLessThanOrEqual(2);
        expect(refreshes() - before.refreshes).toBeLessThanOrEqual(11);
        await until(() => program.events('request').length >= lines + 11);
        const said = Date.parse(String(program.events('request').at(-1)?.['time']));
        expect(Math.abs(said - Date.now() - step)).toBeLessThan(60_000);
      }
      await expectGoodEnd(program);
    });
  });

  function wasTaken(offset: string): boolean {
    const taken = existsSync(`${offset}.taken`);
    if (taken) rmSync(`${offset}.taken`);
    return taken;
  }
});
