import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openPfx } from '../../src/sandbox/identity/pfx.js';
import { closePretendBanks } from '../support/pretend-bank.js';
import { endPrograms, programEnvironment, startProgram } from '../support/program.js';
import { PLANTED } from '../support/sample-accounts.js';
import { ask, Callers } from './callers.js';
import { Dice } from './dice.js';
import { FAULTS } from './faults.js';
import { judge, type Call, type Limits } from './judge.js';
import { startSoakBank } from './soak-bank.js';
import { readVitals, VITALS_FLAGS, type Vitals } from './vitals.js';

interface SoakReport {
  readonly seed: number;
  readonly seconds: number;
  /** How often each fault was there. */
  readonly tried: Readonly<Record<string, number>>;
  /** Answers by status, and stale or code. */
  readonly answered: Readonly<Record<string, number>>;
  /** Callers who hung up on purpose. */
  readonly left: number;
  readonly readings: number;
  readonly tokens: number;
  readonly recoveredAfterMs: number;
  readonly before: Vitals;
  readonly after: Vitals;
  /** Callers without an answer. */
  readonly lost: readonly string[];
  readonly leaked: readonly string[];
  readonly wrong: readonly string[];
}

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
const WARM_UP_MS = 2500;
const RECOVERS_WITHIN_MS = 40_000;
/** What caches, compiled code and the idle connections of the pool may hold more than at the start. */
const MAY_GROW: Vitals = { heapMb: 15, files: 8, sockets: 8, timers: 8 };
const AT_MOST_TOLD = 20;

/**
 * The real program against a bank that goes wrong in every way at random, under steady callers who check every answer.
 * The same seed gives the same faults in the same order.
 */
export async function runSoak(seconds: number, seed: number): Promise<SoakReport> {
  const soak = await startSoakBank();
  const { bank } = soak;
  const vitalsPath = join(bank.directory, 'vitals.json');
  const secrets = new Set(secretsOf(bank.files));
  const tried: Record<string, number> = {};
  const answered: Record<string, number> = {};
  const [lost, wrong, leaked]: [string[], string[], string[]] = [[], [], []];
  const held: [number, number][] = [];
  const note = (list: string[], text: string) => void (list.length < AT_MOST_TOLD && list.push(text));
  const stopWatching = watchOwnStalls(held);

  try {
    const env = programEnvironment(bank, { ...ENV, SOAK_VITALS: vitalsPath });
    const program = await startProgram({ env, cwd: bank.directory, nodeFlags: VITALS_FLAGS });
    const url = await program.started();
    const heldWithin = (call: Call) =>
      held.reduce((sum, [from, to]) => sum + (to > call.sentAt - 1000 && from < call.receivedAt ? to - from : 0), 0);
    const onAnswer = (call: Call) => {
      const what = call.status === 200 ? `stale=${call.headers['snapshot-stale']}` : codeOf(call.text);
      answered[`${call.status} ${what}`] = (answered[`${call.status} ${what}`] ?? 0) + 1;
      const fault = judgeOrThrown(call);
      if (fault) note(wrong, `${call.path} ${call.cacheControl ?? ''} → ${call.status}: ${fault}`);
      if (call.status !== 200 && holdsSecret(call.text, secrets)) note(wrong, `a secret in a problem: ${what}`);
    };
    const judgeOrThrown = (call: Call) => {
      try {
        return judge(call, soak.versions, LIMITS, heldWithin(call));
      } catch (error) {
        return `cannot be read: ${(error as Error).message}`;
      }
    };
    const callersDice = new Dice(seed + 1);
    const callers = new Callers(url, callersDice, onAnswer, (path, reason) => note(lost, `${path}: ${reason}`));

    callers.start(STEADY, LEAVING);
    await callers.burst(BURST);
    await delay(WARM_UP_MS);
    const before = await readVitals(program, vitalsPath);

    const dice = new Dice(seed);
    const scene = { soak, child: program.child, dice, held, burst: () => callers.burst(BURST) };
    const end = Date.now() + seconds * 1000;
    let bag: string[] = [];
    while (Date.now() < end && program.child.exitCode === null) {
      // each once before any comes again
      if (bag.length === 0) bag = shuffled([...FAULTS.keys()], dice);
      const names = bag.splice(0, dice.between(1, 2));
      await Promise.all(
        names.map((name) => {
          tried[name] = (tried[name] ?? 0) + 1;
          return FAULTS.get(name)?.(scene, dice.between(100, 900));
        }),
      );
      for (const secret of secretsOf(bank.files)) secrets.add(secret);
      await checkHealth(url, secrets, (text) => note(wrong, text));
      if (dice.chance(0.3)) await delay(dice.between(0, 1200));
    }

    const recoveredAfterMs = await recovery(url);
    if (recoveredAfterMs > RECOVERS_WITHIN_MS) note(wrong, `not recovered within ${RECOVERS_WITHIN_MS} ms`);
    await delay(1000);
    await callers.stop();
    const { child } = program;
    if (child.exitCode !== null || child.signalCode !== null) note(wrong, 'the process ended');
    const after = await settledVitals(() => readVitals(program, vitalsPath), before);
    for (const name of ['heapMb', 'files', 'sockets', 'timers'] as const) {
      if (after[name] > before[name] + MAY_GROW[name]) note(leaked, `${name}: ${before[name]} → ${after[name]}`);
    }

    child.kill('SIGTERM');
    const exitCode = await program.exit;
    if (exitCode !== 0) note(wrong, `exit code ${exitCode}`);
    if (program.stderr() !== '') note(wrong, 'it wrote to standard error');
    for (const secret of [...secrets, ...bank.tokens]) {
      if (program.stdout().includes(secret)) note(wrong, `a secret in the log (${secret.slice(0, 6)}…)`);
    }
    for (const event of ['request.failed', 'gateway.fault']) {
      const { length } = program.events(event);
      if (length > 0) note(wrong, `${length} × ${event} in the log`);
    }
    if (bank.most.token > 1) note(wrong, `${bank.most.token} token requests in flight`);
    for (const { at, ageMs } of soak.expired) {
      // chosen before the process was held, sent after it, over a connection that had yet to be opened
      if (!held.some(([from, to]) => at >= from && at < to + 600))
        note(wrong, `a token sent ${ageMs} ms after its issue`);
    }
    return {
      seed,
      seconds,
      tried,
      answered,
      left: callers.left,
      readings: soak.versions.length,
      tokens: bank.tokens.length,
      recoveredAfterMs,
      before,
      after,
      lost,
      leaked,
      wrong,
    };
  } finally {
    stopWatching();
    await endPrograms();
    await closePretendBanks();
  }
}

/** When this process itself stands still, callers measure that and not the gateway. */
function watchOwnStalls(held: [number, number][]): () => void {
  let last = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - last > 100) held.push([last, Date.now()]);
    last = Date.now();
  }, 20);
  return () => clearInterval(timer);
}

function secretsOf(files: { password: string; username: string; passcode: string; pfx: string }): string[] {
  const [username, password, passcode] = [files.username, files.password, files.passcode].map((file) =>
    readFileSync(file, 'utf8'),
  ) as [string, string, string];
  const { keyPem } = openPfx(readFileSync(files.pfx), passcode);
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return [password, passcode, basic, keyPem.split('\n')[3]?.trim() ?? '', ...Object.values(PLANTED)];
}

const holdsSecret = (text: string, secrets: ReadonlySet<string>) =>
  [...secrets].some((secret) => text.includes(secret));

const codeOf = (text: string): string => /"code":"([a-z-]+)"/.exec(text)?.[1] ?? 'without a code';

async function checkHealth(url: string, secrets: ReadonlySet<string>, wrong: (text: string) => void): Promise<void> {
  const live = await ask(`${url}/health/live`, null);
  if (live.status !== 200) wrong(`live answered ${live.status}`);
  const health = await ask(`${url}/health`, null);
  if (![200, 503].includes(health.status)) wrong(`health answered ${health.status}`);
  if (holdsSecret(health.text, secrets)) wrong('a secret in /health');
}

/** How long until a new reading is served again. */
async function recovery(url: string): Promise<number> {
  const since = Date.now();
  for (;;) {
    const { status } = await ask(`${url}/api/v1/accounts`, 'no-cache');
    if (status === 200 || Date.now() - since > RECOVERS_WITHIN_MS) return Date.now() - since;
    await delay(50);
  }
}

/** What is left once everything had 10 s to end. */
async function settledVitals(read: () => Promise<Vitals>, before: Vitals): Promise<Vitals> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const now = await read();
    const settled =
      now.files <= before.files && now.sockets <= before.sockets && now.heapMb <= before.heapMb + MAY_GROW.heapMb;
    if (settled || Date.now() > deadline) return now;
    await delay(250);
  }
}

function shuffled<T>(all: T[], dice: Dice): T[] {
  for (let last = all.length - 1; last > 0; last--) {
    const other = dice.between(0, last);
    [all[last], all[other]] = [all[other] as T, all[last] as T];
  }
  return all;
}
