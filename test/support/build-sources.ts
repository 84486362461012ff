import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import type * as Identity from '../../src/sandbox/identity/identity.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// below node_modules, so that what is compiled finds the packages
const BUILDS = join(ROOT, 'node_modules', '.cache', 'accounts-gateway-test');
const KEPT_MS = 3_600_000;
const PAGE = join('src', 'console', 'web');
const STOCK = join(ROOT, 'node_modules', '.cache', 'accounts-gateway-test-stock');
const KEYS = 16;

/** Jest's globalSetup, and the soak's: BUILT_SOURCES names the directory that stands for `src`, and TEST_STOCK that of stock.ts. */
export default async function prepare(): Promise<void> {
  const built = buildSources();
  process.env['BUILT_SOURCES'] = built;
  // of worker threads and programs
  process.env['NODE_COMPILE_CACHE'] = join(dirname(built), 'compile-cache');
  await fillStock(built);
  process.env['TEST_STOCK'] = STOCK;
}

/**
 * Compiles the sources of this moment by .swcrc, as `nest build` does, once for all runs that
 * see the same ones: a worker thread, or the program in a process of its own, cannot start from TypeScript. The console page
 * is built as well. Gives the directory that stands for `src`.
 */
function buildSources(): string {
  const files = [...filesBelow('src'), ...filesBelow(join('client', 'src'))];
  const all = new Map(files.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));
  const directory = join(BUILDS, hashOf(all));
  const sources = new Map([...all].filter(([name]) => /^src\b.*\.ts$/.test(name) && !name.startsWith(PAGE)));
  if (!existsSync(directory)) compileInto(directory, sources);
  return join(directory, 'dist');
}

/** Makes what takes long to make and is no matter of most tests, once for all runs: key pairs, and the identity of a sandbox. */
async function fillStock(built: string): Promise<void> {
  mkdirSync(STOCK, { recursive: true });
  const file = join(STOCK, 'keys.json');
  if (!existsSync(file)) {
    const keys = Array.from({ length: KEYS }, () =>
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(keys));
    renameSync(`${file}.${process.pid}`, file);
  }
  const { loadIdentity } = (await import(join(built, 'sandbox/identity/identity.js'))) as typeof Identity;
  await loadIdentity(join(STOCK, 'sandbox'), ['localhost', '127.0.0.1'], false);
}

/** What is built, tests left out. */
function filesBelow(top: string): string[] {
  return readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(spec|test-support)\.ts$/.test(entry.name))
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .sort();
}

function hashOf(sources: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  const settings = ['package.json', '.swcrc'].map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]);
  for (const part of [...settings, ...sources]) hash.update(JSON.stringify(part));
  return hash.digest('hex').slice(0, 16);
}

function compileInto(directory: string, sources: ReadonlyMap<string, string>): void {
  const made = `${directory}.${process.pid}`;
  for (const [name, source] of sources) {
    const output = join(made, 'dist', relative('src', name).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(output), { recursive: true });
    const filename = join(ROOT, name);
    writeFileSync(output, transformSync(source, { filename, cwd: ROOT, sourceMaps: false }).code);
  }
  const vite = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js');
  const page = join(made, 'dist', 'console', 'web');
  execFileSync(process.execPath, [vite, 'build', '--logLevel', 'warn', '--outDir', page, PAGE], { cwd: ROOT });
  cpSync(join(ROOT, 'package.json'), join(made, 'package.json'));
  try {
    renameSync(made, directory);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    // another run may have been first
    if (!existsSync(directory)) throw error;
  }
  for (const old of readdirSync(BUILDS).map((name) => join(BUILDS, name))) {
    const age = Date.now() - (statSync(old, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (old !== directory && age > KEPT_MS) rmSync(old, { recursive: true, force: true });
  }
}
