import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Dice } from '../../src/sandbox/accounts/dice.js';
import { secretsOf } from '../support/common-conditions.js';
import { get } from '../support/gateway.js';
import { programEnvironment, startProgram } from '../support/program.js';
import { until } from '../support/until.js';
import { Callers } from './callers.js';
import { FAULTS } from './faults.js';
import { judge, type Call, type Limits } from './judge.js';
import { startSoakBank } from './soak-bank.js';
import { readVitals, VITALS_FLAGS } from './vitals.js';

/** `npm run soak` runs it for longer. The same seed gives the same faults in the same order. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 4);
const SEED = Number(process.env['SOAK_SEED'] ?? Math.floor(Date.now() / 1000) % 1_000_000);
const LIMITS: Limits = { freshMs: 300, maxAgeMs: 3000, deadlineMs: 2500 };
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
const [STEADY, LEAVING, BURST] = [8, 3, 150];
const RECOVERS_WITHIN_MS = 40_000;
/** What caches, compiled code and the idle connections of the pool may take beyond the start. */
const MAY_GROW = { heapMb: 15, files: 8, sockets: 8 };

it(
  `${SECONDS} s of faults at random, seed ${SEED}: nothing lost, nothing leaked, nothing wrong`,
  async () => {
    const soak = await startSoakBank();
    const { bank } = soak;
    const vitalsPath = join(bank.directory, 'vitals.json');
    const env = programEnvironment(bank, { ...ENV, SOAK_VITALS: vitalsPath });
    const program = await startProgram({ env, cwd: bank.directory, nodeFlags: VITALS_FLAGS });
    const url = await program.started();
    const secrets = new Set(secretsOf(bank));
    const wrong = new Set<string>();
    const answered: Record<string, number> = {};
    const held: [number, number][] = [];
    const stopWatching = watchOwnStalls(held);
    const heldWithin = ({ sentAt, receivedAt }: Call) =>
      held.reduce((sum, [from, to]) => sum + (to > sentAt - 1000 && from < receivedAt ? to - from : 0), 0);
    const onAnswer = (call: Call) => {
      const what = call.status === 200 ? '' : (/"code":"([a-z-]+)"/.exec(call.text)?.[1] ?? 'without a code');
      answered[`${call.status} ${what}`.trim()] = (answered[`${call.status} ${what}`.trim()] ?? 0) + 1;
      const mistake = judge(call, soak.versions, LIMITS, heldWithin(call));
      if (mistake) wrong.add(`${call.path} ${call.cacheControl ?? ''} → ${call.status} ${what}: ${mistake}`);
      if (call.status !== 200 && holdsSecret(call.text)) wrong.add(`a secret in ${what}`);
    };
    const holdsSecret = (text: string) => [...secrets].some((secret) => text.includes(secret));
    const callers = new Callers(url, new Dice(`callers ${SEED}`), onAnswer, (path, why) =>
      wrong.add(`${path}: ${why}`),
    );

    callers.start(STEADY, LEAVING);
    await callers.burst(BURST);
    const before = await readVitals(program, vitalsPath);

    const dice = new Dice(`faults ${SEED}`);
    const scene = { soak, child: program.child, dice, held, burst: () => callers.burst(BURST) };
    const tried = new Set<string>();
    for (const end = Date.now() + SECONDS * 1000; Date.now() < end && program.child.exitCode === null;) {
      // each once before any comes again
      if (tried.size === FAULTS.size) tried.clear();
      const left = [...FAULTS].filter(([name]) => !tried.has(name));
      const [name, fault] = left[dice.int(0, left.length - 1)] as (typeof left)[number];
      tried.add(name);
      await fault(scene, dice.int(100, 900));
      for (const secret of secretsOf(bank)) secrets.add(secret);
      if ((await get(`${url}/health/live`)).status !== 200) wrong.add(`not live after ${name}`);
      if (holdsSecret((await get(`${url}/health`)).text)) wrong.add(`a secret in /health after ${name}`);
      if (dice.chance(30)) await delay(dice.int(0, 1200));
    }

    const current = () => get(`${url}/api/v1/accounts`, { 'cache-control': 'no-cache' });
    await until(async () => (await current()).status === 200, RECOVERS_WITHIN_MS);
    await callers.stop();
    stopWatching();
    const grown = async () => {
      const after = await readVitals(program, vitalsPath);
      const names = Object.keys(MAY_GROW) as (keyof typeof MAY_GROW)[];
      return names.filter((each) => after[each] > before[each] + MAY_GROW[each]);
    };
    await until(async () => (await grown()).length === 0, 10_000);

    program.child.kill('SIGTERM');
    expect({ exitCode: await program.exit, stderr: program.stderr() }).toEqual({ exitCode: 0, stderr: '' });
    expect([...secrets, ...bank.tokens].filter((secret) => program.stdout().includes(secret))).toEqual([]);
    expect([...program.events('internal-error'), ...program.events('gateway.fault')]).toEqual([]);
    expect(bank.most.token).toBeLessThanOrEqual(1);
    expect({ seed: SEED, wrong: [...wrong] }).toEqual({ seed: SEED, wrong: [] });
    expect(answered['200']).toBeGreaterThan(0);
    expect(soak.versions.length).toBeGreaterThan(1);
  },
  SECONDS * 1000 + 90_000,
);

/** When this process itself stands still, callers measure that and not the gateway. */
function watchOwnStalls(held: [number, number][]): () => void {
  let last = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - last > 100) held.push([last, Date.now()]);
    last = Date.now();
  }, 20);
  return () => clearInterval(timer);
}
