import { execFileSync } from 'node:child_process';
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
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
// below node_modules, so that what is compiled finds the packages
const BUILDS = join(ROOT, 'node_modules', '.cache', 'accounts-gateway-test');
const KEPT_MS = 3_600_000;
const PAGE = join('src', 'console', 'web');

/**
 * Jest's globalSetup. Compiles the sources of this moment by .swcrc, as `nest build` and Jest do, once for all runs that
 * see the same ones: a worker thread, or the program in a process of its own, cannot start from TypeScript. The console page
 * is built as well. BUILT_SOURCES then names the directory that stands for `src`.
 */
export default function buildSources(): void {
  const files = [...filesBelow('src'), ...filesBelow(join('client', 'src'))];
  const all = new Map(files.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));
  const directory = join(BUILDS, hashOf(all));
  const sources = new Map([...all].filter(([name]) => /^src\b.*\.ts$/.test(name) && !name.startsWith(PAGE)));
  if (!existsSync(directory)) compileInto(directory, sources);
  process.env['BUILT_SOURCES'] = join(directory, 'dist');
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
