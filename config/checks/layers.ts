// npm run check:layers: fails on imports that run up the order of the layers, on imports of list/ (a thread) but errors/, and on
// circles among folders and among files, type imports included. At each depth, sibling folders must not import each other in a circle.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
const IMPORT = /(?:\bfrom\s+|\bimport\s*\(?\s*)'(\.[^']+)'/g;

/** A layer is a folder of src/. It imports only those after it. */
const ORDER = [
  'main.ts',
  'cli',
  'app.setup.ts',
  'app.module.ts',
  'operations',
  'accounts',
  'http',
  'pages',
  'cache',
  'sharing',
  'snapshot',
  'bank',
  'auth',
  'egress',
  'sandbox',
  'representation',
  'telemetry',
  'time',
  'list',
  'errors',
  'config',
];

interface Import {
  readonly from: string;
  readonly to: string;
}

const imports = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/\.spec\.tsx?$/.test(file))
  .flatMap((from): Import[] =>
    [...readFileSync(join(SOURCES, from), 'utf8').matchAll(IMPORT)]
      .map(([, path = '']) => ({ from, to: normalize(join(dirname(from), path)) }))
      // the page imports the client
      .filter(({ to }) => !to.startsWith('..')),
  );

const upward = imports.filter(({ from, to }) => layerOf(to) < layerOf(from));
for (const { from, to } of upward) process.stdout.write(`Up the order: ${from} imports ${to}\n`);

// the list thread must not reach a clock, a log, a socket or the settings
const fromList = imports.filter(({ from, to }) => from.startsWith('list/') && !/^(?:list|errors)\//.test(to));
for (const { from, to } of fromList) process.stdout.write(`Out of the list thread: ${from} imports ${to}\n`);

const circles = [...foldersOf(imports).flatMap((folder) => circlesIn(folder)), ...circlesOfFiles()];
for (const lines of circles) process.stdout.write(`${lines}\n`);
process.stdout.write(
  `${circles.length} circles among folders and files of src, ${upward.length} imports up the order, ` +
    `${fromList.length} out of the list thread\n`,
);
if (circles.length + upward.length + fromList.length > 0) process.exitCode = 1;

/** The index of a file's layer in the order. */
function layerOf(file: string): number {
  const [name = ''] = file.replace(/\.js$/, '.ts').split('/');
  const layer = ORDER.indexOf(name);
  if (layer === -1) throw new Error(`${name} is not in ORDER (config/checks/layers.ts)`);
  return layer;
}

/** Every folder with files, src itself as "". */
function foldersOf(all: readonly Import[]): string[] {
  const folders = new Set<string>(['']);
  for (const { from } of all) {
    for (let folder = dirname(from); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}

/** Each circle among the members of a folder, with the imports that tie it. */
function circlesIn(folder: string): string[] {
  const ties = imports
    .map(({ from, to }) => ({ from, to, ends: [memberOf(from, folder), memberOf(to, folder)] as const }))
    .filter(({ ends: [from, to] }) => from !== null && to !== null && from !== to);
  const next = new Map<string, Set<string>>();
  for (const { ends } of ties) {
    const [from, to] = ends as readonly [string, string];
    next.set(from, (next.get(from) ?? new Set()).add(to));
  }
  const reachable = new Map([...next.keys()].map((member) => [member, reachableFrom(member, next)]));
  const circle = (one: string, other: string) =>
    reachable.get(one)?.has(other) === true && reachable.get(other)?.has(one) === true;
  const arrows = new Map<string, Import[]>();
  for (const { from, to, ends } of ties) {
    const [one, other] = ends as readonly [string, string];
    if (!circle(one, other)) continue;
    const arrow = `${one} -> ${other}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), { from, to }]);
  }
  if (arrows.size === 0) return [];
  // the arrows of few files first: they are the ones to remove
  const lines = [...arrows]
    .sort(([, a], [, b]) => a.length - b.length)
    .flatMap(([arrow, files]) => [`  ${arrow}`, ...files.map(({ from, to }) => `    ${from} imports ${to}`)]);
  return [[`A circle in src/${folder}:`, ...lines].join('\n')];
}

/** Each group of files that import each other in a circle. */
function circlesOfFiles(): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const file = to.replace(/\.js(x?)$/, '.ts$1');
    next.set(from, (next.get(from) ?? new Set()).add(file));
  }
  const reachable = new Map([...next.keys()].map((file) => [file, reachableFrom(file, next)]));
  const grouped = new Set<string>();
  return [...next.keys()].flatMap((file) => {
    if (grouped.has(file) || reachable.get(file)?.has(file) !== true) return [];
    const group = [...next.keys()].filter(
      (other) => reachable.get(file)?.has(other) === true && reachable.get(other)?.has(file) === true,
    );
    for (const other of group) grouped.add(other);
    return [`A circle of files: ${group.join(', ')}`];
  });
}

/** The member of `folder` that holds a file: one of its folders, or `.` for its own files. Files of src count one by one. */
function memberOf(file: string, folder: string): string | null {
  const path = relative(folder, file);
  if (path.startsWith('..')) return null;
  const [first = '', ...rest] = path.split('/');
  if (rest.length > 0) return first;
  return folder === '' ? first : '.';
}

function reachableFrom(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const found = new Set<string>();
  const pending = [start];
  for (let member = pending.pop(); member !== undefined; member = pending.pop()) {
    for (const other of next.get(member) ?? []) {
      if (found.has(other)) continue;
      found.add(other);
      pending.push(other);
    }
  }
  return found;
}
