// npm run build: builds dist/. The files are built elsewhere and then renamed, so that a failed build leaves the old ones
// and a running gateway keeps its loaded files.
import { execFileSync, type ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown, type InputOptions, type OutputBundle } from 'rolldown';
import { build as buildPage } from 'vite';
import { buildClient } from './build-client.ts';
import { type BundledPackage, listBundledPackages } from './bundled-packages.ts';
import { readCommit } from './commit.ts';
import { collectLicenses } from './licenses.ts';
import { problemWithFolder, requireAll } from './machine.mjs';
import { type Sbom, toDeliveredSbom } from './sbom.ts';
import { DIST, isOutdated, ROOT } from './sources.ts';

/** Documents that the guide of a running gateway does not show. */
const DEVELOPERS_ONLY = new Set(['bounds.md', 'decisions', 'dependencies.md']);

/** Packages that Nest and Terminus load only if an app has installed them; none of them is installed here. */
const OPTIONAL =
  /^(@nestjs\/(axios|microservices|mongoose|platform-express|sequelize|typeorm|websockets)|@fastify\/(multipart|static|view)|@grpc\/.*|@mikro-orm\/.*|@prisma\/.*|class-transformer|class-validator|mongoose|sequelize|typeorm)(\/|$)/;

const { values: flags } = parseArgs({
  options: {
    'if-needed': { type: 'boolean', default: false },
    sbom: { type: 'boolean', default: false },
    // for `npm run docs`, which writes the types that the client may still lack
    'any-client': { type: 'boolean', default: false },
  },
});

if (!flags['if-needed'] || isOutdated()) await build();

async function build(): Promise<void> {
  requireAll(problemWithFolder());
  const aside = join(ROOT, `dist.${process.pid}`);
  const startedAt = new Date();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      rmSync(aside, { recursive: true, force: true });
      process.exit(1);
    });
  }
  try {
    mkdirSync(aside);
    await buildInto(aside);
    // a source that changes during the build is newer than its output
    utimesSync(join(aside, 'main.js'), startedAt, startedAt);
    swap(aside);
  } catch (error) {
    // ^C also reaches the programs that this one waits for
    if (!wasInterrupted(error)) throw error;
    process.exitCode = 1;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

async function buildInto(directory: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const options: InputOptions = {
    cwd: ROOT,
    platform: 'node',
    tsconfig: 'tsconfig.json',
    external: OPTIONAL,
    transform: {
      define: { __VERSION__: JSON.stringify(version), __COMMIT__: JSON.stringify(readCommit()), __BUNDLED__: 'true' },
    },
    plugins: [{ name: 'ascii', generateBundle: (_options, bundle) => escapeAll(bundle) }],
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`Rolldown: ${log.message}`);
    },
  };
  const output = { dir: directory, sourcemap: true, sourcemapExcludeSources: true, keepNames: true } as const;
  const program = await rolldown({ ...options, input: { main: 'src/main.ts' } });
  const { output: chunks } = await program.write({
    ...output,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  const modules = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
  // a worker thread is one CommonJS file, which the program reads at startup
  const worker = await rolldown({ ...options, input: { list: 'src/list/list.worker.ts' } });
  const { output: files } = await worker.write({
    ...output,
    format: 'cjs',
    entryFileNames: '[name].worker.cjs',
    codeSplitting: false,
  });
  modules.push(...files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])));
  await buildPage({
    configFile: join(ROOT, 'src/pages/console/web/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: join(directory, 'console') },
  });
  await packClient(join(directory, 'client'));
  cpSync(join(ROOT, 'docs'), join(directory, 'guide'), {
    recursive: true,
    filter: (path) => !DEVELOPERS_ONLY.has(basename(path)),
  });
  cpSync(join(ROOT, 'client/README.md'), join(directory, 'guide/client.md'));
  cpSync(join(ROOT, 'CHANGELOG.md'), join(directory, 'guide/changelog.md'));
  await buildDocumentFiles(join(directory, 'guide'));
  const packages = listBundledPackages(modules, ['preact'], ROOT);
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), collectLicenses(packages));
  if (flags.sbom) writeFileSync(join(directory, 'sbom.cdx.json'), createSbom(packages));
  // marks dist/*.js as ES modules, wherever the directory is copied
  writeFileSync(
    join(directory, 'package.json'),
    `${JSON.stringify({ name: 'accounts-gateway', version, type: 'module' })}\n`,
  );
}

/**
 * Escapes non-ASCII characters in strings and regular expressions, except after a backslash, which would escape the
 * escape. With a single non-ASCII character, V8 keeps a source as two bytes per character: 6 MB of resident memory.
 */
function escapeAll(bundle: OutputBundle): void {
  for (const file of Object.values(bundle)) {
    if (file.type !== 'chunk') continue;
    file.code = file.code.replace(/(?<!\\)[^\0-\x7F]/gu, (character) =>
      character
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
    );
  }
}

/** The style and the script of the server-rendered pages. */
async function buildDocumentFiles(directory: string): Promise<void> {
  const web = join(ROOT, 'src/pages/console/web');
  const styles = ['palette', 'header', 'documents'].map((name) => join(web, `styles/${name}.css`));
  writeFileSync(join(directory, 'page.css'), styles.map((file) => readFileSync(file, 'utf8')).join('\n'));
  const script = await rolldown({ cwd: ROOT, platform: 'browser', input: { page: join(web, 'documents/main.ts') } });
  await script.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].js',
    codeSplitting: false,
    minify: true,
  });
}

/** The typed client as a package, served by the gateway. */
async function packClient(directory: string): Promise<void> {
  mkdirSync(directory);
  await buildClient({ mayLackTypes: flags['any-client'] });
  runNpm('pack', './client', '--pack-destination', directory, '--ignore-scripts', '--silent');
}

/** CycloneDX. */
function createSbom(packages: readonly BundledPackage[]): string {
  // Vite sets NODE_ENV to production, which makes npm omit the bundled packages
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--include', 'dev'];
  const all = JSON.parse(runNpm(...args)) as Sbom;
  return `${JSON.stringify(toDeliveredSbom(all, packages), null, 2)}\n`;
}

/**
 * Runs npm through the script file of the npm that runs this script: on Windows, its command is not an executable.
 * Returns its output.
 */
function runNpm(...args: string[]): string {
  const file = process.env['npm_execpath'] ?? '';
  const options: ExecFileSyncOptionsWithStringEncoding = {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  };
  if (file.endsWith('npm-cli.js')) return execFileSync(process.execPath, [file, ...args], options);
  return execFileSync('npm', args, options);
}

/** True for the error of a program that was ended by a signal, or by a shell's exit code for ^C. */
function wasInterrupted(error: unknown): boolean {
  const { signal, status } = error as { signal?: NodeJS.Signals | null; status?: number | null };
  return Boolean(signal) || status === 130;
}

function swap(aside: string): void {
  const old = `${aside}.old`;
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(aside, DIST);
  rmSync(old, { recursive: true, force: true });
}
