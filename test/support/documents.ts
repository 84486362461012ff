import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A document without its comments. */
export const readDocument = (path: string): string => read(path).replace(/<!--[\s\S]*?-->/g, '');

/** Every document of the project, by its path. */
export function documentPaths(): string[] {
  const below = (directory: string) =>
    readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => posix.join(directory, path));
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  return [...top, ...below('docs'), ...below('test'), 'client/README.md', '.github/SECURITY.md'];
}

type Row = readonly string[];

/** The rows of all tables whose header begins with these cells. @throws Error without such a table */
export function rowsUnder(document: string, ...header: string[]): Row[] {
  const tables = (document.match(/(?:^\|.*\|\n)+/gm) ?? []).map((table) =>
    [...table.matchAll(/^\|(.*)\|$/gm)].map(([, line = '']) => line.split('|').map((cell) => cell.trim())),
  );
  const found = tables.filter(([first]) => header.every((cell, index) => first?.[index] === cell));
  if (found.length === 0) throw new Error(`no table with the header ${header.join(' | ')}`);
  return found.flatMap(([, , ...rows]) => rows);
}

/** The list items that begin with names in backticks: these names, and the rest. */
export const itemsOf = (document: string): { readonly names: readonly string[]; readonly rest: string }[] =>
  [...document.matchAll(/^- ((?:`[^`]+`(?:,\s+)?)+)(.*(?:\n {2}.*)*)/gm)].map(([, names, rest = '']) => ({
    names: coded(names),
    rest,
  }));

/** The part of a document under a heading, up to the next heading of any level. @throws Error without such a heading */
export function under(document: string, heading: string): string {
  const [, found] = document.split(new RegExp(`^#+ ${heading}$`, 'm'));
  if (found === undefined) throw new Error(`no heading ${heading}`);
  return found.split(/^#+ /m)[0] ?? '';
}

/** The texts between backticks in a cell. */
export const coded = (cell: string | undefined): string[] =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');

/** The anchors of a document, as GitHub derives them from headings. */
function anchorsOf(document: string): Set<string> {
  const headings = [...document.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)];
  const toAnchor = (title: string) => title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return new Set(headings.map(([, title = '']) => toAnchor(title).trim().replace(/\s/g, '-')));
}

const LINK = /\]\((?!https?:|mailto:)([^)\s]+)\)/g;
const NAMED = /(?<![\w./-])((?:src|test|config|docs|client|\.github|\.ci)\/(?:[\w./-]*[\w/-])?(?:#[\p{L}\p{N}_-]+)?)/gu;

/** A source file, found by the end of its path, such as `cache/refresher.ts`. */
const NAMED_BY_END = /`(?!(?:src|test|config|client)\/)([\w-]+\/[\w./-]+\.tsx?)`/g;

/**
 * The links, files and folders in a text that do not exist, including headings. An end-to-end test may be named without
 * its extension.
 */
export function brokenReferences(path: string, text: string): string[] {
  const here = posix.dirname(path);
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, reference = '']) => reference);
  const links = all(LINK).filter((link) => !exists(link.startsWith('#') ? path + link : posix.join(here, link)));
  const isThere = (name: string) => [name, posix.join(here, name), `${name}.e2e-spec.ts`].some(exists);
  const isEnd = (name: string) => sourcePaths().some((source) => source.endsWith(`/${name}`));
  return [
    ...links,
    ...all(NAMED).filter((name) => !isThere(name)),
    ...all(NAMED_BY_END).filter((name) => !isEnd(name)),
  ];
}

function exists(reference: string): boolean {
  const [file = '', anchor] = reference.split('#');
  if (!existsSync(join(ROOT, file))) return false;
  return anchor === undefined || anchorsOf(read(file)).has(anchor);
}

let sources: string[] | undefined;

/** The source files of program, client and tests, by their paths. */
export const sourcePaths = (): string[] =>
  (sources ??= ['src', 'client/src', 'client/example', 'client/testing', 'client/test', 'test'].flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|tsx|js|mjs)$/.test(path))
      .map((path) => posix.join(directory, path)),
  ));

/** The comments of a source file. */
export const commentsIn = (source: string): string =>
  (source.match(/^\s*(?:\/?\*|\/\/).*|\s\/\/\s.*/gm) ?? []).join('\n');

const SETTING =
  /(?<![\w/])(?:BANK|EGRESS|SNAPSHOT|SANDBOX|TLS(?!_AES)|SHUTDOWN|MAX|ALLOWED|CORS|REQUEST|LOG)_[A-Z0-9_]+\b/g;
/** The settings that a document names, recognized by their prefix. */
export const settingsIn = (document: string): string[] => [...new Set(document.match(SETTING))];
