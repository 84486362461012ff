import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { expectNoSecret, secretsOf } from '../support/common-conditions.js';
import { get } from '../support/gateway.js';
import { issueToken, startPretendBank, type PretendBank } from '../support/pretend-bank.js';
import { programEnvironment, startProgram, type Program } from '../support/program.js';
import { listSample } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

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
  it(`${CALLERS} callers wait for it: the old token is not sent, one new one is asked for, one reading serves all`, async () => {
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
