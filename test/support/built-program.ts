import { spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from '@swc/core';

const root = join(import.meta.dirname, '../..');

export interface BuiltProgram {
  /** Of its `dist/main.js`. */
  readonly main: string;
  remove(): void;
}

/**
 * The program as `npm run build` makes it, from the sources as they are now and without looking at types, in a directory
 * of its own: `dist` may be another's, older or just being made.
 */
export function buildProgram(): BuiltProgram {
  mkdirSync(join(root, 'node_modules/.cache'), { recursive: true });
  const directory = mkdtempSync(join(root, 'node_modules/.cache/program-'));
  cpSync(join(root, 'package.json'), join(directory, 'package.json'));
  const source = join(root, 'src');
  for (const file of globSync('**/*.ts', { cwd: source, exclude: ['**/*.spec.ts', '**/*.test-support.ts'] })) {
    const { code } = transformSync(readFileSync(join(source, file), 'utf8'), {
      filename: file,
      swcrc: false,
      jsc: {
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
        target: 'es2024',
      },
      module: { type: 'es6' },
    });
    const target = join(directory, 'dist', file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
  return {
    main: join(directory, 'dist/main.js'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export interface Run {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
  /** How long it went on after its last word. */
  readonly lingeredMs: number;
}

export interface RunOptions {
  /** All of its environment but PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Sent when this text has come on standard output. */
  readonly signalAfter?: readonly [text: string, signal: NodeJS.Signals];
  /** Nobody reads its standard output. */
  readonly closeStdout?: boolean;
  /** Runs it by another program: what stands before `node`. */
  readonly by?: readonly string[];
}

/** Runs the program to its end. */
export async function runProgram(
  { main }: BuiltProgram,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Run> {
  const started = performance.now();
  const [command = '', ...rest] = [...(options.by ?? []), process.execPath, main, ...args];
  const child = spawn(command, rest, {
    cwd: options.cwd ?? dirname(main),
    env: { PATH: process.env['PATH'], ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let sent = false;
  let lastWord = started;
  if (options.closeStdout) child.stdout.destroy();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    lastWord = performance.now();
    const [text, signal] = options.signalAfter ?? [];
    if (text !== undefined && !sent && stdout.includes(text)) sent = child.kill(signal);
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  child.once('error', reject);
  child.once('close', (code, signal) => {
    const ended = performance.now();
    resolve({ code, signal, stdout, stderr, ms: ended - started, lingeredMs: ended - lastWord });
  });
  return promise;
}
