// npm run start:dev; with --debug, under the inspector. Serves with the sandbox, and rebuilds and restarts after each
// change of a source.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DIST, isOutdated, ROOT, SOURCES } from './sources.ts';

/** Debounce time: an editor writes a file in several steps. */
const QUIET_MS = 100;
const { values: flags } = parseArgs({ options: { debug: { type: 'boolean', default: false } } });
const BUILD = [join(ROOT, 'config/build/build.ts')];
const SERVE = [
  ...(flags.debug ? ['--inspect'] : []),
  '--disable-sigusr1',
  '--enable-source-maps',
  join(DIST, 'main.js'),
  'serve',
  '--sandbox',
];

/** The running processes: a build, the gateway, or the gateway while the next one is built. */
const running = new Set<ChildProcess>();
let gateway: ChildProcess | null = null;
let timer: NodeJS.Timeout | undefined;
let building = false;

// none of them outlives this process; the gateway would take SIGHUP as a reload, but the terminal is gone
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => void stop(signal === 'SIGHUP' ? 'SIGTERM' : signal));
}
// npm and editors replace a file when they write it, so its folder is watched
for (const folder of [ROOT, join(ROOT, 'client')]) watch(folder, changed);
for (const source of SOURCES.filter((path) => statSync(join(ROOT, path)).isDirectory())) {
  watch(join(ROOT, source), { recursive: true }, changed);
}
await buildAndServe();

function changed(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (isOutdated()) void buildAndServe();
  }, QUIET_MS);
}

/** Replaces the gateway if the build succeeds. A change during a build triggers the next one. */
async function buildAndServe(): Promise<void> {
  if (building) return changed();
  building = true;
  const [exitCode] = (await once(start(BUILD), 'close')) as [number | null];
  building = false;
  if (exitCode !== 0) return;
  if (gateway) await end(gateway, 'SIGTERM');
  gateway = start(SERVE);
}

function start(args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (!running.has(child)) return;
  const ended = once(child, 'close');
  child.kill(signal);
  await ended;
}

async function stop(signal: NodeJS.Signals): Promise<void> {
  clearTimeout(timer);
  await Promise.all([...running].map((child) => end(child, signal)));
  process.exit(gateway?.exitCode ?? 0);
}
