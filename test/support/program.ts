import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { onClose } from './closing.js';
import { toEnvironment, type BankAddress } from './bank-address.js';
import type { LogLine } from './log-lines.js';
import { until } from './until.js';

export interface Program {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The log lines with this event. */
  events(event: string): LogLine[];
  /** The address where it serves. Rejects if the program exits first. */
  started(): Promise<string>;
  /** The exit code, once the program has ended and its output is read. Null if a signal ended it. */
  readonly exit: Promise<number | null>;
}

export interface ProgramOptions {
  readonly args?: readonly string[];
  /** The whole environment, besides PATH and NODE_COMPILE_CACHE. */
  readonly env?: Record<string, string>;
  /** The working directory, whose `.env` is read. */
  readonly cwd: string;
  readonly nodeFlags?: readonly string[];
  /** Standard output and standard error. Default: pipes, which are read. */
  readonly output?: readonly ['pipe' | number, 'pipe' | number];
  /** A build other than that of the global setup (build-sources.ts). */
  readonly main?: string;
}

/** Starts the program like `npm run start:prod`. */
export async function startProgram({
  args = [],
  env = {},
  cwd,
  nodeFlags = [],
  output = ['pipe', 'pipe'],
  main = join(process.env['BUILT_SOURCES'] ?? '', 'main.js'),
}: ProgramOptions): Promise<Program> {
  const child = spawn(process.execPath, ['--disable-sigusr1', ...nodeFlags, main, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', ...output],
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
  let ended = false;
  const program: Program = {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    events: (event) =>
      stdout
        .split('\n')
        .filter((line) => line.includes(`"event":"${event}"`) && line.endsWith('}'))
        .map((line) => JSON.parse(line) as LogLine),
    started: async () => {
      await until(() => ended || program.events('gateway.started').length > 0);
      const url = program.events('gateway.started')[0]?.['url'];
      if (typeof url !== 'string') throw new Error(`it did not start: ${stdout}${stderr}`);
      return url;
    },
    exit: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        ended = true;
        resolve(code);
      });
    }),
  };
  onClose(() => {
    child.kill('SIGKILL');
    return program.exit;
  });
  return program;
}

/** The environment of a program that calls this bank, on free ports. */
export const programEnvironment = (bank: BankAddress, more: Record<string, string> = {}): Record<string, string> => ({
  ...toEnvironment(bank),
  PORT: '0',
  ...more,
});
