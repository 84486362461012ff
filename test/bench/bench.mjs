// npm run bench [-- --quick | --long] [--only=…] [--rounds=…] [--generator=…] [--build=…] [--cpu-prof=…] [--json=…]; see README.md here.
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startBank } from './bank.mjs';
import { bankCalls } from './cells/bank-calls.mjs';
import { coldBurst, warmCallers } from './cells/cold-burst.mjs';
import { fleet } from './cells/fleet.mjs';
import { largeList } from './cells/large-list.mjs';
import { metrics } from './cells/metrics.mjs';
import { warmList } from './cells/warm-list.mjs';
import { wholeReading } from './cells/whole-reading.mjs';
import { toTable } from './figures.mjs';
import { chooseGenerator } from './load.mjs';
import { DISTURBING, watchOthers } from './machine.mjs';
import { cleanUp, makeDirectory, pinning, pinSelf } from './processes.mjs';

const CELLS = {
  list: warmList,
  metrics,
  burst: coldBurst,
  reading: wholeReading,
  large: largeList,
  calls: bankCalls,
  fleet,
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
    generator: { type: 'string' },
    build: { type: 'string', default: fileURLToPath(new URL('../..', import.meta.url)) },
    'cpu-prof': { type: 'string' },
    json: { type: 'string' },
    rounds: { type: 'string' },
  },
});

const say = (text) => process.stderr.write(`${text}\n`);
const print = (text) => process.stdout.write(`${text}\n`);

async function bench() {
  const names = values.only?.split(',') ?? Object.keys(CELLS);
  const unknown = names.find((name) => !Object.hasOwn(CELLS, name));
  if (unknown) throw new Error(`--only takes ${Object.keys(CELLS).join(', ')}; not ${unknown}`);
  const startedAt = performance.now();
  pinSelf();
  const cwd = makeDirectory();
  const root = copyBuild(resolve(values.build), cwd);
  const generator = chooseGenerator(values.generator, cwd);
  const { quick, long } = values;
  const bank = await startBank({ root, cwd });
  const shared = {
    root,
    cwd,
    bank,
    generator,
    quick,
    long,
    say,
    rounds: Math.max(1, Number(values.rounds ?? (quick ? 3 : 5))),
    seconds: quick ? 1 : 2,
    warmUpSeconds: 1,
    token: await bank.getToken(3600),
    nodeFlags: values['cpu-prof'] ? ['--cpu-prof', `--cpu-prof-dir=${resolve(values['cpu-prof'])}`] : [],
  };
  await warmCallers(Number(new URL(bank.controlUrl).port));

  print(describeMachine(generator, shared));
  const results = {};
  try {
    for (const name of names) {
      say(name);
      const others = watchOthers();
      const since = performance.now();
      results[name] = Object.assign(await CELLS[name](shared), others());
      say(`  ${name} took ${Math.round((performance.now() - since) / 1000)} s`);
    }
  } finally {
    // a cell that fails ends the run; what was measured before is not lost
    if (Object.keys(results).length > 0) report(results, (performance.now() - startedAt) / 1000);
    if (values.json) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  }
}

/** A copy of dist, so that a build meanwhile does not change what is measured. */
function copyBuild(from, cwd) {
  const root = join(cwd, 'build');
  for (const part of ['dist', 'package.json']) cpSync(join(from, part), join(root, part), { recursive: true });
  symlinkSync(join(from, 'node_modules'), join(root, 'node_modules'));
  return root;
}

function describeMachine(generator, { rounds, seconds }) {
  const [{ model }] = cpus();
  const cores = pinning
    ? `the server under test has core ${pinning.server} for itself and all its threads; load, bank and log readers have core ${pinning.others}`
    : 'cores are shared freely (one core, or no taskset)';
  return [
    `accounts-gateway bench, ${new Date().toISOString()}`,
    `${cpus().length} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}, Node ${process.version}, ${generator.name}`,
    `${rounds} rounds of ${seconds} s; ${cores}; all on 127.0.0.1. Load average before: ${loadavg()[0].toFixed(2)}.`,
    '',
  ].join('\n');
}

function report(results, seconds) {
  const all = Object.values(results);
  for (const [title, table] of all.flatMap(({ tables = [] }) => tables)) print(`${title}\n\n${table}\n`);
  const word = (reached, disturbed) =>
    reached === null ? '–' : disturbed ? 'not judged: disturbed' : reached ? 'reached' : 'MISSED';
  const rows = all.flatMap(({ goals, others }) =>
    goals.map(({ goal, measured, reached, disturbed = others > DISTURBING }) => [
      goal,
      measured,
      word(reached, disturbed),
    ]),
  );
  print(`${toTable(['goal', 'measured', ''], rows)}\n`);
  for (const note of all.flatMap(({ notes = [] }) => notes)) print(`- ${note}`);
  const missing = all.flatMap(({ missing = [] }) => missing);
  if (missing.length > 0) print(`- Not installed here, so left out: ${missing.join(', ')}.`);
  const percent = (share) => (share === null ? '?' : `${Math.round(share * 100)} %`);
  const others = Object.entries(results).map(
    ([name, { others, stolen }]) => `${name} ${percent(others)} (${percent(stolen)})`,
  );
  print(
    `- Of the whole machine, what was not the bench's used meanwhile (of which other machines on the same host, "steal"): ${others.join(', ')}.${all.some(({ others }) => others > DISTURBING) ? ' **The machine was not quiet.**' : ''}`,
  );
  print(`- The run took ${Math.round(seconds)} s; load average after: ${loadavg()[0].toFixed(2)}.`);
}

let signalled = null;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (signalled) return;
    signalled = signal;
    say(`\n${signal}: ending what was started`);
    void cleanUp().then(() => process.exit(130));
  });
}

try {
  await bench();
} catch (error) {
  if (!signalled) {
    say(`bench failed: ${error.stack}`);
    process.exitCode = 1;
  }
} finally {
  if (!signalled) await cleanUp();
}
