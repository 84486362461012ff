// npm run build: bundles the program, its worker threads and the console page into dist/. The files are built aside and then
// renamed, so that a failed build changes nothing and a running gateway keeps what it has loaded.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown, type InputOptions } from 'rolldown';
import { build as buildPage } from 'vite';
import { collectLicenses } from './licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DIST = join(ROOT, 'dist');
/** Each worker thread is one CommonJS file, which the program reads at its start. */
const WORKERS = {
  'snapshot-builder': 'src/list/builder.worker.ts',
  'open-certificate': 'src/auth/pfx/open-certificate.worker.ts',
};
const SOURCES = [
  'src',
  'client/package.json',
  'client/README.md',
  'client/src',
  'docs',
  'config/build',
  'package.json',
  'package-lock.json',
];

/** Packages that Nest and terminus only load if an app has installed them; none of them is installed here. */
const OPTIONAL =
  /^(@nestjs\/(axios|microservices|mongoose|platform-express|sequelize|typeorm|websockets)|@fastify\/(multipart|static|view)|@grpc\/.*|@mikro-orm\/.*|@prisma\/.*|class-transformer|class-validator|mongoose|sequelize|typeorm)(\/|$)/;

const { values: flags } = parseArgs({
  options: {
    'if-needed': { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    debug: { type: 'boolean', default: false },
    sbom: { type: 'boolean', default: false },
  },
});

if (flags.watch) await serveAndWatch();
else if (!flags['if-needed'] || isOutdated()) await build();

async function build(): Promise<void> {
  const aside = join(ROOT, `dist.${process.pid}`);
  try {
    await buildInto(aside);
    swap(aside);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** npm run start:dev and start:debug: serves against the sandbox, and builds and starts again after each change. */
async function serveAndWatch(): Promise<void> {
  const inspect = flags.debug ? ['--inspect'] : [];
  const args = [...inspect, '--disable-sigusr1', '--enable-source-maps', join(DIST, 'main.js'), 'serve', '--sandbox'];
  // Vite sets NODE_ENV while it builds
  // eslint-disable-next-line node/no-process-env -- handed on
  const env = { ...process.env };
  const start = () => spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env });
  await build();
  let gateway = start();
  for await (const _change of watch(join(ROOT, 'src'), { recursive: true })) {
    if (!isOutdated()) continue;
    try {
      await build();
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      continue;
    }
    const ended = once(gateway, 'exit');
    if (gateway.kill()) await ended;
    gateway = start();
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
  for (const [name, input] of Object.entries(WORKERS)) {
    const worker = await rolldown({ ...options, input: { [name]: input } });
    const { output: files } = await worker.write({
      ...output,
      format: 'cjs',
      entryFileNames: '[name].worker.cjs',
      codeSplitting: false,
    });
    modules.push(...files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])));
  }
  await buildPage({
    configFile: join(ROOT, 'src/pages/console/web/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: join(directory, 'console') },
  });
  packClient(join(directory, 'client'));
  if (flags.sbom) writeFileSync(join(directory, 'sbom.cdx.json'), createSbom());
  cpSync(join(ROOT, 'docs'), join(directory, 'guide'), { recursive: true });
  await buildDocumentFiles(directory);
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), collectLicenses(modules, ['preact'], ROOT));
  // what is in dist/*.js are ES modules, wherever it is copied
  writeFileSync(
    join(directory, 'package.json'),
    `${JSON.stringify({ name: 'accounts-gateway', version, type: 'module' })}\n`,
  );
}

/** The style and the script of the pages that the server renders. */
async function buildDocumentFiles(directory: string): Promise<void> {
  const web = join(ROOT, 'src/pages/console/web');
  const styles = ['palette', 'header', 'documents'].map((name) => join(web, `styles/${name}.css`));
  writeFileSync(join(directory, 'guide.css'), styles.map((file) => readFileSync(file, 'utf8')).join('\n'));
  const script = await rolldown({ cwd: ROOT, platform: 'browser', input: { guide: join(web, 'documents/main.ts') } });
  await script.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].js',
    codeSplitting: false,
    minify: true,
  });
}

/** The typed client as a package, which the gateway serves so that web apps can install it by its address. */
function packClient(directory: string): void {
  mkdirSync(directory);
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  run(process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'client');
  run('npm', 'pack', './client', '--pack-destination', directory, '--ignore-scripts', '--silent');
}

/** The packages that dist/ is built from, as CycloneDX; without time and serial number, so that equal builds are equal. */
function createSbom(): string {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const sbom = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })) as {
    serialNumber?: string;
    metadata: { timestamp?: string; component: { name: string } };
  };
  delete sbom.serialNumber;
  delete sbom.metadata.timestamp;
  sbom.metadata.component.name = 'accounts-gateway';
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

function swap(aside: string): void {
  const old = `${aside}.old`;
  if (existsSync(DIST)) renameSync(DIST, old);
  renameSync(aside, DIST);
  rmSync(old, { recursive: true, force: true });
}

/** True without a build, and when any source is newer than it. */
function isOutdated(): boolean {
  const built = statSync(join(DIST, 'main.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return SOURCES.some((source) => newest(join(ROOT, source)) > built);
}

function newest(path: string): number {
  const entry = statSync(path);
  if (!entry.isDirectory()) return entry.mtimeMs;
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** The commit, 12 characters: GIT_COMMIT where it is set, else that of the checkout; null without one. */
function readCommit(): string | null {
  // eslint-disable-next-line node/no-process-env -- an argument of the image build
  const { GIT_COMMIT } = process.env;
  if (GIT_COMMIT) return GIT_COMMIT;
  try {
    const git = ['-C', ROOT, 'rev-parse', '--short=12', 'HEAD'];
    return execFileSync('git', git, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return readHead(join(ROOT, '.git'));
  }
}

/** The same for the image build, which has no git: from HEAD, its branch and the packed branches. */
function readHead(git: string): string | null {
  const read = (name: string) => {
    const file = join(git, name);
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file, 'utf8').trim() : '';
  };
  const branch = read('HEAD').replace(/^ref: /, '');
  const packed = read('packed-refs').split('\n');
  const commit = [branch, read(branch), ...packed.filter((line) => line.endsWith(` ${branch}`))];
  return commit.find((text) => /^[\da-f]{40}/.test(text))?.slice(0, 12) ?? null;
}
