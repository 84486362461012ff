// npm run check:layers: fails on imports against the order of the layers, out of a fenced folder, and on cycles between
// folders or files, including type imports. At each depth, sibling folders must not import each other in a cycle.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The program, and the workspace, whose fake gateway contains code of the program. */
const SOURCES = ['src', 'client/src', 'client/testing'];
const IMPORT = /(?:\bfrom\s+|\bimport\s*\(?\s*)'(\.[^']+)'/g;

/** A layer is a folder or file of src/, or a folder of the workspace. It may import only the layers after it. */
const ORDER = [
  'client/testing',
  'main.ts',
  'cli',
  'app.setup.ts',
  'app.module.ts',
  'operations',
  'accounts',
  'pages',
  'http',
  'cache',
  'sharing',
  'snapshot',
  'bank',
  'auth',
  'sandbox',
  'recording',
  'egress',
  'representation',
  'telemetry',
  'time',
  'list',
  'errors',
  'config',
  'files',
  'client/src',
];

/** Folders that import only themselves and the named ones. */
const FENCED = {
  // the list thread must not depend on a clock, a log, a socket or the settings
  list: ['errors'],
  // code shared with the gateway would share its mistakes
  sandbox: ['recording'],
  // what the gateway's API answers, and nothing that needs a socket or a file
  'client/testing': ['client/src', 'accounts', 'cache', 'errors', 'list', 'representation'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

const toName = (path: string): string => path.replaceAll('\\', '/').replace(/^src\//, '');

const imports = SOURCES.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
)
  .filter((file) => /\.tsx?$/.test(file) && !/\.spec\.tsx?$/.test(file))
  .flatMap((from): Import[] =>
    [...readFileSync(join(ROOT, from), 'utf8').matchAll(IMPORT)].map(([, path = '']) => ({
      from: toName(from),
      to: toName(normalize(join(dirname(from), path)).replace(/\.js(x?)$/, '.ts$1')),
    })),
  );

/** Every folder with sources. For the folders directly in src, the order already rules out cycles. */
const folders = new Set<string>();
for (const { from } of imports) {
  for (let folder = dirname(from); folder !== '.'; folder = dirname(folder)) folders.add(folder);
}

const findings = [
  ...report(
    'Up the order',
    imports.filter(({ from, to }) => layerOf(to) < layerOf(from)),
  ),
  ...Object.entries(FENCED).flatMap(([folder, allowed]) =>
    report(
      'Over the fence',
      imports.filter(({ from, to }) => topOf(from) === folder && ![folder, ...allowed].includes(topOf(to))),
    ),
  ),
  ...report('A circle of files', inCircles(imports, String)),
  ...[...folders].flatMap((folder) =>
    report(
      `A circle in ${folder}`,
      inCircles(imports, (file) => memberOf(file, folder)),
    ),
  ),
];
for (const line of findings) process.stdout.write(`${line}\n`);
process.stdout.write(`${imports.length} imports, ${findings.length} against the layers\n`);
if (findings.length > 0) process.exitCode = 1;

function report(what: string, found: readonly Import[]): string[] {
  return found.map(({ from, to }) => `${what}: ${from} imports ${to}`);
}

function topOf(file: string): string {
  return /^(?:client\/)?[^/]+/.exec(file)?.[0] ?? '';
}

/** The index of a file's layer in the order. */
function layerOf(file: string): number {
  const name = topOf(file);
  const layer = ORDER.indexOf(name);
  if (layer === -1) throw new Error(`${name} is not in ORDER (config/checks/layers.ts)`);
  return layer;
}

/** The subfolder of `folder` that contains `file`; `.` for a file directly in it, null for one outside. */
function memberOf(file: string, folder: string): string | null {
  const path = relative(folder, file);
  if (path.startsWith('..')) return null;
  const [first = '', ...rest] = path.split('/');
  return rest.length > 0 ? first : '.';
}

/** The imports that are part of a cycle between groups of files. @param groupOf returns null for a file in no group */
function inCircles(all: readonly Import[], groupOf: (file: string) => string | null): Import[] {
  const next = new Map<string, Set<string>>();
  const ties = all.flatMap(({ from, to }) => {
    const [one, other] = [groupOf(from), groupOf(to)];
    if (one === null || other === null || one === other) return [];
    next.set(one, (next.get(one) ?? new Set()).add(other));
    return { from, to, one, other };
  });
  return ties.filter(({ one, other }) => isReachable(one, other, next));
}

function isReachable(goal: string, start: string, next: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const found = new Set([start]);
  // the loop also visits groups that it adds
  for (const each of found) for (const to of next.get(each) ?? []) found.add(to);
  return found.has(goal);
}
