import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { json as toJson } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { get } from '../support/call.js';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { issueToken } from '../support/pretend-bank.js';
import { type Program, programEnvironment, startProgram } from '../support/program.js';
import { listSample } from '../support/sample-accounts.js';
import { closedPort } from '../support/servers.js';
import { hasPrlimit, pathOf } from '../support/tools.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
// limits that no busy machine reaches
const ALWAYS_READ = {
  SNAPSHOT_FRESH_MS: '0',
  LOG_LEVEL: 'trace',
  BANK_CONNECT_TIMEOUT_MS: '60000',
  BANK_REQUEST_TIMEOUT_MS: '60000',
  REQUEST_DEADLINE_MS: '60000',
};

const start = (env: Record<string, string> = {}, nodeFlags: string[] = []) =>
  startProgram({ env: programEnvironment(bank, env), cwd: bank.directory, nodeFlags });

async function expectGoodEnd(program: Program): Promise<void> {
  program.child.kill('SIGTERM');
  expect(await program.exit).toBe(0);
  expect(program.stderr()).toBe('');
  expectNoSecret(program.stdout(), secretsOf(bank));
  await until(() => bank.sockets.size === 0);
}

async function askNow(url: string): Promise<void> {
  const answer = await get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' });
  expect([answer.status, answer.json.snapshot?.stale, answer.json.page?.total]).toEqual([200, false, 3]);
}

it('after a SIGKILL during a call and a restart, the gateway serves at once with a new token', async () => {
  const at = { PORT: String(await closedPort()) };
  const first = await start({ ...at, SNAPSHOT_FRESH_MS: '0', SNAPSHOT_MAX_AGE_MS: '0' });
  const url = await first.started();
  // the refresh at each startup
  await until(() => first.events('snapshot.refreshed').length === 1);
  bank.onAccounts = () => undefined;
  const cut = get(`${url}/api/v1/accounts`).catch((error: NodeJS.ErrnoException) => error.code);
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
  expect(bank.most.token).toBe(1);
  await expectGoodEnd(second);
});

it("a process suspended for longer than a token's lifetime makes one token request and one refresh for 50 callers", async () => {
  bank.onToken = issueToken(bank, { expires_in: 2 });
  const program = await start(ALWAYS_READ);
  const url = await program.started();
  await askNow(url);
  // the next token lasts longer than the test
  bank.onToken = issueToken(bank);
  const tokens = () => bank.requests.filter(({ path }) => path.includes('authorize')).length;
  const before = { tokens: tokens(), all: bank.requests.length };
  program.child.kill('SIGSTOP');
  const awakeAt = performance.now() + 2500;
  const waiting = Promise.all(Array.from({ length: 50 }, () => askNow(url)));
  await until(() => performance.now() > awakeAt);
  program.child.kill('SIGCONT');
  await waiting;
  expect(tokens()).toBe(before.tokens + 1);
  expect(bank.requests.length - before.all).toBeLessThanOrEqual(3);
  // the old token was not sent
  expect(bank.requests.at(-1)?.headers.authorization).toBe(`Bearer ${bank.tokens.at(-1)}`);
  expect(bank.most.token).toBe(1);
  await expectGoodEnd(program);
});

(hasPrlimit() ? it : it.skip)(
  'a process without free file descriptors reports that, and does not blame the network',
  async () => {
    bank.onAccounts = listSample();
    const program = await start(ALWAYS_READ);
    const url = await program.started();
    await askNow(url);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (path: string) => {
      const request = httpGet(`${url}${path}`, { agent, headers: { 'cache-control': 'no-cache' } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return (await toJson(response)) as { code?: string; owner?: string; detail?: string };
    };
    await ask('/api/v1/accounts');
    expect(spawnSync(pathOf('prlimit'), ['--pid', String(program.child.pid), '--nofile=64:64']).status).toBe(0);
    const held: Socket[] = [];
    const isAccepted = async () => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
      socket.once('data', () => resolve(true)).once('close', () => resolve(false));
      socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n');
      held.push(socket);
      return await promise;
    };
    let answer = await ask('/api/v1/accounts');
    await until(async () => {
      // without a kept connection, the next refresh needs a descriptor
      for (const socket of bank.sockets) socket.destroy();
      while (await isAccepted()) expect(held.length).toBeLessThan(200);
      answer = await ask('/api/v1/accounts');
      return answer.code !== undefined;
    });
    expect(answer).toMatchObject({
      code: 'overloaded',
      owner: 'operator',
      detail: 'No connection could be opened: too many open files (EMFILE).',
    });
    agent.destroy();
    for (const socket of held) socket.destroy();
    await until(() =>
      askNow(url).then(
        () => true,
        () => false,
      ),
    );
    await expectGoodEnd(program);
  },
);

describe('one process', () => {
  let program: Program;
  let url: string;
  beforeAll(async () => {
    const env = { ...ALWAYS_READ, NODE_ENV: 'production' };
    program = await start(env, ['--max-old-space-size=96', '--no-disable-sigusr1']);
    url = await program.started();
  });

  it('serves 1000 accounts with a heap of 96 MB, under continuous refreshes and callers', async () => {
    bank.onAccounts = listSample(1000);
    const ask = (page: number) => get(`${url}/api/v1/accounts?pageSize=100&pageNumber=${page}`);
    await until(async () => (await ask(1)).json.page?.total === 1000);
    for (let times = 0; times < 4; times++) {
      const all = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(index + 1)));
      expect(all.map(({ status, json }) => [status, json.page?.total])).toEqual(all.map(() => [200, 1000]));
    }
  });

  it('opens no inspector on SIGUSR1, even without --disable-sigusr1, and survives', async () => {
    program.child.kill('SIGUSR1');
    for (let times = 0; times < 5; times++) expect((await get(`${url}/health/live`)).status).toBe(200);
    expect(program.stderr()).not.toMatch(/debugger/i);
  });

  it('ends with exit code 0 after these tests', () => expectGoodEnd(program));
});
