// npm run bench [-- --quick] [--only list,refresh,large,start,day,attacks] [--starts 7] [--build DIR] [--json FILE];
// see README.md in this folder.
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startBank } from './bank.mjs';
import { attacks } from './cells/attacks.mjs';
import { day } from './cells/day.mjs';
import { list } from './cells/list.mjs';
import { large, refresh } from './cells/refresh.mjs';
import { startUp } from './cells/start.mjs';
import { toTable } from './figures.mjs';
import { createGenerator } from './load.mjs';
import { DISTURBING, watchOthers } from './machine.mjs';
import { cleanUp, makeDirectory, pinning, pinSelf } from './processes.mjs';

const CELLS = { list, refresh, large, start: startUp, day, attacks };
/** Cells that run only when named. */
const ON_DEMAND = new Set(['attacks']);

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    starts: { type: 'string' },
    build: { type: 'string', default: fileURLToPath(new URL('../../..', import.meta.url)) },
    json: { type: 'string' },
  },
});

const say = (text) => process.stderr.write(`${text}\n`);
const print = (text) => process.stdout.write(`${text}\n`);

async function bench() {
  const names = values.only?.split(',') ?? Object.keys(CELLS).filter((name) => !ON_DEMAND.has(name));
  const unknown = names.find((name) => !Object.hasOwn(CELLS, name));
  if (unknown) throw new Error(`--only accepts ${Object.keys(CELLS).join(', ')}, not ${unknown}`);
  const startedAt = performance.now();
  pinSelf();
  const cwd = makeDirectory();
  const root = copyBuild(resolve(values.build), cwd);
  const { quick } = values;
  const bank = await startBank({ root, cwd });
  const shared = {
    root,
    cwd,
    bank,
    quick,
    say,
    generator: createGenerator(cwd),
    starts: Math.max(1, Number(values.starts ?? (quick ? 1 : 5))),
    seconds: quick ? 1 : 2,
    sliceCycles: quick ? 3 : 6,
    // V8 keeps optimizing for about this many requests
    settleResponses: quick ? 20_000 : 60_000,
    token: await bank.getToken(3600),
  };
  print(describeMachine(shared));
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
    // a failing cell ends the run, but the measurements so far are kept
    if (Object.keys(results).length > 0) report(results, (performance.now() - startedAt) / 1000);
    if (values.json) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
  }
}

/** Copies dist, so that a build during the run does not change the program under test. */
function copyBuild(from, cwd) {
  const root = join(cwd, 'build');
  for (const part of ['dist', 'package.json']) cpSync(join(from, part), join(root, part), { recursive: true });
  if (existsSync(join(from, 'node_modules'))) symlinkSync(join(from, 'node_modules'), join(root, 'node_modules'));
  return root;
}

function describeMachine({ starts }) {
  const [{ model }] = cpus();
  const cores = pinning
    ? `the server under test has core ${pinning.server} for itself and all its threads; load, bank and log readers have core ${pinning.others}`
    : 'cores are shared freely (one core, or no taskset)';
  return [
    `accounts-gateway bench, ${new Date().toISOString()}`,
    `${cpus().length} × ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}, Node ${process.version}`,
    `Medians over starts of every process: ${starts}; ${cores}; all on 127.0.0.1. Load average before: ${loadavg()[0].toFixed(2)}.`,
    '',
  ].join('\n');
}

function report(results, seconds) {
  const all = Object.values(results);
  for (const [title, table] of all.flatMap(({ tables = [] }) => tables)) print(`${title}\n\n${table}\n`);
  const word = (reached) => (reached === null ? '–' : reached ? 'reached' : 'MISSED');
  const rows = all.flatMap(({ goals }) => goals.map(({ goal, measured, reached }) => [goal, measured, word(reached)]));
  print(`${toTable(['goal', 'measured', ''], rows)}\n`);
  const percent = (share) => (share === null ? '?' : `${Math.round(share * 100)} %`);
  const others = Object.entries(results).map(
    ([name, { others, stolen }]) => `${name} ${percent(others)} (${percent(stolen)})`,
  );
  print(
    `- Share of the machine used by other programs during each cell (in brackets: by other machines on the host, "steal"): ${others.join(', ')}.${all.some(({ others }) => others > DISTURBING) ? ' **The machine was busy.**' : ''}`,
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
