import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Dice } from '../../../src/sandbox/accounts/dice.js';
import { get } from '../../support/gateway.js';
import { programEnvironment, startProgram, type Program } from '../../support/program.js';
import { sampleId } from '../../support/sample-accounts.js';
import { until } from '../../support/until.js';
import { FAULTS } from './faults.js';
import { judge, LIMITS } from './judge.js';
import { ACCOUNTS, SoakBank } from './soak-bank.js';

/** SOAK_SECONDS makes the run longer. The same seed gives the same faults in the same order. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 4);
const SEED = Number(process.env['SOAK_SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000);
const ENV = {
  LOG_LEVEL: 'trace',
  BANK_PAGE_SIZE: '50',
  BANK_CONNECT_TIMEOUT_MS: '500',
  BANK_REQUEST_TIMEOUT_MS: '1000',
  BANK_MAX_RESPONSE_BYTES: '1048576',
  REQUEST_DEADLINE_MS: String(LIMITS.deadlineMs),
  SNAPSHOT_FRESH_MS: String(LIMITS.freshMs),
  SNAPSHOT_SOFT_TIMEOUT_MS: '200',
  SNAPSHOT_MAX_AGE_MS: String(LIMITS.maxAgeMs),
  SNAPSHOT_READ_TIMEOUT_MS: '5000',
};
const [STEADY, BURST] = [8, 150];
const RECOVERS_WITHIN_MS = 40_000;
/** Allowed growth, for caches, compiled code and idle connections. */
const MAY_GROW = { heapMb: 15, files: 8, sockets: 8 };
/** On SIGUSR2, the gateway collects garbage and writes its resource usage. */
const PRELOAD = `
import { renameSync, writeFileSync } from 'node:fs';
process.on('SIGUSR2', () => setImmediate(() => {
  globalThis.gc();
  globalThis.gc();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'TLSWrap').length;
  writeFileSync('vitals.new', JSON.stringify({ heapMb: Math.round(process.memoryUsage().heapUsed / 1e6), sockets }));
  renameSync('vitals.new', 'vitals.json');
}));`;

it(
  `${SECONDS} s of random faults, seed ${SEED}: every response is correct, and nothing leaks`,
  async () => {
    const soak = await SoakBank.start();
    const { bank } = soak;
    const program = await startProgram({
      env: programEnvironment(bank, ENV),
      cwd: bank.directory,
      nodeFlags: ['--expose-gc', `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}`],
    });
    const url = await program.started();
    const wrong = new Set<string>();
    const held: [number, number][] = [];
    const stopWatching = watchOwnStalls(held);
    let good = 0;
    const ask = async (dice: Dice) => {
      const path = dice.pick([
        '/api/v1/accounts',
        '/api/v1/accounts?pageSize=1000',
        `/api/v1/accounts?pageNumber=${dice.int(1, 3)}&sort=-current`,
        `/api/v1/accounts/${sampleId(dice.int(1, ACCOUNTS))}`,
      ]);
      const cacheControl = dice.pick(['max-stale', 'max-stale', 'no-cache', 'max-age=1']);
      const sentAt = Date.now();
      const answer = await get(`${url}${path}`, { 'cache-control': cacheControl }).catch((error: Error) => error);
      const receivedAt = Date.now();
      if (answer instanceof Error) return void wrong.add(`${path}: ${answer.message}`);
      if (answer.status === 200) good += 1;
      const stood = held.filter(([from, to]) => to > sentAt - 1000 && from < receivedAt);
      const heldMs = stood.reduce((sum, [from, to]) => sum + to - from, 0);
      const call = { answer, sentAt, receivedAt, noCache: cacheControl === 'no-cache' };
      const mistake = judge(call, soak.versions, heldMs);
      if (mistake) wrong.add(`${path} ${cacheControl} → ${answer.status}: ${mistake}`);
    };
    let isGoing = true;
    const keepAsking = async (name: string) => {
      for (const dice = new Dice(`${name} ${SEED}`); isGoing; await delay(dice.int(0, 60))) await ask(dice);
    };
    const burst = () => Promise.all(Array.from({ length: BURST }, (_, each) => ask(new Dice(`burst ${each} ${SEED}`))));
    const callers = Array.from({ length: STEADY }, (_, each) => keepAsking(`steady ${each}`));
    await burst();
    const before = await readVitals(program, bank.directory);

    const dice = new Dice(`faults ${SEED}`);
    let left = [...FAULTS];
    for (const end = Date.now() + SECONDS * 1000; Date.now() < end && program.child.exitCode === null;) {
      const [[name, fault]] = left.splice(dice.int(0, left.length - 1), 1) as [(typeof FAULTS)[number]];
      await fault(soak, dice.int(100, 900), program.child);
      // each fault occurs once before any repeats
      if (left.length === 0) left = [...FAULTS];
      if (dice.chance(10)) await burst();
      if ((await get(`${url}/health/live`)).status !== 200) wrong.add(`not live after ${name}`);
      if (dice.chance(30)) await delay(dice.int(0, 1200));
    }

    const current = () => get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' });
    await until(async () => (await current()).status === 200, RECOVERS_WITHIN_MS);
    isGoing = false;
    await Promise.all(callers);
    stopWatching();
    const names = Object.keys(MAY_GROW) as (keyof typeof MAY_GROW)[];
    await until(async () => {
      const after = await readVitals(program, bank.directory);
      return names.every((each) => after[each] <= before[each] + MAY_GROW[each]);
    }, 10_000);

    program.child.kill('SIGTERM');
    expect({ exitCode: await program.exit, stderr: program.stderr() }).toEqual({ exitCode: 0, stderr: '' });
    expect([...program.events('request.failed'), ...program.events('gateway.fault')]).toEqual([]);
    expect(bank.most.token).toBeLessThanOrEqual(1);
    expect({ seed: SEED, wrong: [...wrong] }).toEqual({ seed: SEED, wrong: [] });
    expect(good).toBeGreaterThan(0);
    expect(soak.versions.length).toBeGreaterThan(1);
  },
  SECONDS * 1000 + 90_000,
);

async function readVitals({ child }: Program, directory: string): Promise<typeof MAY_GROW> {
  const file = join(directory, 'vitals.json');
  rmSync(file, { force: true });
  child.kill('SIGUSR2');
  await until(() => existsSync(file));
  const used = JSON.parse(readFileSync(file, 'utf8')) as typeof MAY_GROW;
  return { ...used, files: readdirSync(`/proc/${child.pid}/fd`).length };
}

/** Pauses of this process, which would otherwise count as slowness of the gateway. */
function watchOwnStalls(held: [number, number][]): () => void {
  let last = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - last > 100) held.push([last, Date.now()]);
    last = Date.now();
  }, 20);
  return () => clearInterval(timer);
}
