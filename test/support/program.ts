import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toEnvironment, type BankAddress, type LogLine } from './gateway.js';
import { until } from './until.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILD_WITHIN_MS = 60_000;

/**
 * The program as it is shipped, compiled from the sources of this moment. Made once for all test files and runs that see
 * the same sources, in the temporary directory, so that no `dist` is changed under anybody.
 */
async function buildProgram(): Promise<string> {
  const directory = join(tmpdir(), `accounts-gateway-test-${process.getuid?.() ?? 0}-${hashOfSources()}`);
  const main = join(directory, 'dist', 'main.js');
  const lock = `${directory}.lock`;
  for (const deadline = Date.now() + BUILD_WITHIN_MS; !existsSync(main);) {
    if (Date.now() > deadline) throw new Error(`no build within ${BUILD_WITHIN_MS} ms; remove ${lock}`);
    if (!takeLock(lock)) {
      await delay(50);
      continue;
    }
    try {
      if (!existsSync(main)) compileInto(directory);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  return main;
}

/** Gives false when another process builds; a lock that was left behind is broken. */
function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > BUILD_WITHIN_MS) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}

function compileInto(directory: string): void {
  const made = `${directory}.${process.pid}`;
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(made, 'dist'), '--sourceMap', 'false'];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT });
  if (!existsSync(join(made, 'dist', 'main.js'))) throw new Error(`it does not compile: ${stdout}`);
  cpSync(join(ROOT, 'package.json'), join(made, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(made, 'node_modules'));
  renameSync(made, directory);
  const old = readdirSync(tmpdir()).filter((name) => /^accounts-gateway-test-\d+-[0-9a-f]{16}$/.test(name));
  for (const name of old.map((each) => join(tmpdir(), each))) {
    if (name !== directory && Date.now() - statSync(name).mtimeMs > 3_600_000)
      rmSync(name, { recursive: true, force: true });
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(spec|test-support)\.ts$/.test(name))
    .map((name) => join('src', name));
  for (const name of [...files.sort(), 'package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(join(ROOT, name)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

export interface Program {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Its log lines with this event. */
  events(event: string): LogLine[];
  /** Where it serves, once it does. Rejects when it ends instead. */
  started(): Promise<string>;
  /** Its exit code, once it has ended and all it wrote has been read; null when a signal ended it. */
  readonly exit: Promise<number | null>;
}

const running = new Set<Program>();

/** For afterEach: ends what a test left running. */
export async function endPrograms(): Promise<void> {
  for (const program of running) {
    program.child.kill('SIGKILL');
    await program.exit;
  }
}

export interface ProgramOptions {
  readonly args?: readonly string[];
  /** All of its environment, but for PATH. */
  readonly env?: Record<string, string>;
  /** Where it runs; a `.env` there is read. */
  readonly cwd: string;
  readonly nodeFlags?: readonly string[];
}

/** Starts the built program as `npm run start:prod` does. */
export async function startProgram({ args = [], env = {}, cwd, nodeFlags = [] }: ProgramOptions): Promise<Program> {
  const main = await buildProgram();
  const child = spawn(process.execPath, ['--disable-sigusr1', ...nodeFlags, main, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  let ended = false;
  const program: Program = {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    events: (event) =>
      stdout
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as LogLine)
        .filter((line) => line['event'] === event),
    started: async () => {
      await until(() => ended || program.events('gateway.started').length > 0, 15_000);
      const url = program.events('gateway.started')[0]?.['url'];
      if (typeof url !== 'string') throw new Error(`it did not start: ${stdout}${stderr}`);
      return url;
    },
    exit: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        ended = true;
        running.delete(program);
        resolve(code);
      });
    }),
  };
  running.add(program);
  return program;
}

/** The environment of a program that talks to this bank, on free ports. */
export const programEnvironment = (bank: BankAddress, more: Record<string, string> = {}): Record<string, string> => ({
  ...toEnvironment(bank),
  PORT: '0',
  ...more,
});
