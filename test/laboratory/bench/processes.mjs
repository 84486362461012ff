import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { familyOf } from './machine.mjs';

const STOP_MS = 3000;
const START_MS = 30_000;
/** Number of log lines to keep for inspection. */
const KEPT_LINES = 60;

const running = new Set();
const directories = [];
let leaving = false;

export const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;

/**
 * Pins servers under test to core 0; load, sandbox bank and log readers share the others. Null if that is impossible
 * (one core, no taskset).
 */
export const pinning =
  availableParallelism() > 1 && has('taskset')
    ? {
        server: '0',
        /** For a server that uses several threads, as in production. */
        pair: '0,1',
        others: availableParallelism() === 2 ? '1' : `1-${availableParallelism() - 1}`,
      }
    : null;

/** Moves this process off the core of the servers under test. Child processes inherit this, except those servers. */
export function pinSelf() {
  if (pinning) spawnSync('taskset', ['-acp', pinning.others, String(process.pid)]);
}

export function makeDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'accounts-bench-'));
  directories.push(directory);
  return directory;
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts a program. `name` appears in messages; `underTest` puts it on the core of the servers under test, with `onPair` on two; `yields`
 * gives other programs on its core priority. Its environment is `env`, PATH and LANG. Its stderr goes to a file, which
 * `complaint` quotes.
 */
export function start(
  name,
  line,
  { underTest = false, onPair = false, yields = false, env = {}, cwd, stdout = 'ignore', ipc } = {},
) {
  const errors = join(cwd, `${toFileName(name)}.${Date.now()}.stderr`);
  const stderr = openSync(errors, 'w');
  const cores = onPair ? pinning?.pair : pinning?.server;
  const before = [...(underTest && pinning ? ['taskset', '-c', cores] : []), ...(yields ? ['nice'] : [])];
  const [command, ...args] = [...before, ...line];
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', stdout, stderr, ...(ipc ? ['ipc'] : [])],
  });
  closeSync(stderr);
  const ended = new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  }).finally(() => running.delete(program));
  let stopping = null;
  const program = {
    name,
    child,
    pid: child.pid,
    ended,
    /** The pids of the process and its children. */
    pids: () => (child.pid === undefined ? [] : familyOf(child.pid)),
    complaint: () => readFileSync(errors, 'utf8').trim().slice(0, 2000),
    stop: () => (stopping ??= stop(program)),
  };
  running.add(program);
  return program;
}

async function stop({ child, ended, pids }) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const family = pids();
  child.kill('SIGTERM');
  const inTime = await Promise.race([ended.then(() => true), delay(STOP_MS, false, { ref: false })]);
  if (!inTime) for (const pid of family) kill(pid, 'SIGKILL');
  await ended;
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // it has already ended
  }
}

/** Waits until `attempt` returns a truthy value. Fails if the program ends first, or after 30 s. */
export async function untilReady(program, attempt, everyMs = 20) {
  const end = Date.now() + START_MS;
  for (;;) {
    if (leaving) throw new Error('interrupted');
    if (program.child.exitCode !== null || program.child.signalCode !== null || program.pid === undefined)
      throw new Error(`${program.name} did not start: ${program.complaint()}`);
    const result = await Promise.resolve(attempt()).catch(() => null);
    if (result) return result;
    if (Date.now() > end) throw new Error(`${program.name} was not ready within 30 s: ${program.complaint()}`);
    await delay(everyMs);
  }
}

/**
 * Starts a program whose standard output is a pipe that is read and counted, as a container runtime does. `lineOf`
 * finds the log line of a request id among the first lines; `stop` returns the number of lines.
 */
export function startLogged(name, line, options) {
  const { cwd } = options;
  const sink = createSink(cwd, name);
  // blocks until the reader, which is starting, opens the other end
  const stdout = openSync(sink.path, 'w');
  const program = start(name, line, { ...options, stdout });
  closeSync(stdout);
  return {
    ...program,
    lineOf: sink.lineOf,
    stop: async () => {
      await program.stop();
      return sink.lines();
    },
  };
}

/** Creates a named pipe, counts its lines, and keeps the first ones. A program can open it by its path. */
export function createSink(cwd, name) {
  const path = join(cwd, `${toFileName(name)}.${Date.now()}.pipe`);
  const kept = `${path}.first`;
  spawnSync('mkfifo', [path]);
  // the shell's read takes exactly one line, and wc counts the rest
  const script = `exec < "$0"
    n=0; while [ $n -lt ${KEPT_LINES} ] && IFS= read -r line; do printf '%s\\n' "$line" >> "$1"; n=$((n + 1)); done
    exec wc -l`;
  const reader = start(`reader of ${name}`, ['sh', '-c', script, path, kept], { cwd, stdout: 'pipe' });
  let text = '';
  reader.child.stdout.on('data', (chunk) => (text += chunk));
  const counted = new Promise((resolve) => reader.child.once('close', resolve));
  const first = () => (existsSync(kept) ? readFileSync(kept, 'utf8').split('\n').slice(0, -1) : []);
  return {
    path,
    lineOf: (requestId) =>
      untilReady(reader, () =>
        first()
          .map((line) => JSON.parse(line))
          .find((line) => line.requestId === requestId),
      ),
    /** Call it after the writer has ended. */
    lines: async () => {
      await Promise.race([counted, delay(STOP_MS, undefined, { ref: false })]);
      await reader.stop();
      await counted;
      return Number(text) + first().length;
    },
  };
}

const toFileName = (name) => name.replaceAll(/\W+/g, '-');

/** Stops all remaining programs, and removes their files. */
export async function cleanUp() {
  leaving = true;
  await Promise.all([...running].map((program) => program.stop()));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}
