import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A document as a reader sees it: comments left out. */
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

/** The rows of all tables whose header begins with these cells. @throws Error when there is no such table */
export function rowsUnder(document: string, ...header: string[]): Row[] {
  const tables = (document.match(/(?:^\|.*\|\n)+/gm) ?? []).map((table) =>
    [...table.matchAll(/^\|(.*)\|$/gm)].map(([, line = '']) => line.split('|').map((cell) => cell.trim())),
  );
  const found = tables.filter(([first]) => header.every((cell, index) => first?.[index] === cell));
  if (found.length === 0) throw new Error(`no table with the header ${header.join(' | ')}`);
  return found.flatMap(([, , ...rows]) => rows);
}

/** Everything in a cell that stands between backticks. */
export const coded = (cell: string | undefined): string[] =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? '');

/** The anchors that a reader can jump to, as GitHub makes them of headings. */
function anchorsOf(document: string): Set<string> {
  const headings = [...document.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)];
  const toAnchor = (title: string) => title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return new Set(headings.map(([, title = '']) => toAnchor(title).trim().replace(/\s/g, '-')));
}

/** Links of a document that lead nowhere: to no file, or to no heading of one. */
export function brokenLinks(path: string, document: string): string[] {
  return [...document.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => {
      const [file = '', anchor] = link.split('#');
      if (file === '') return anchor !== undefined && !anchorsOf(document).has(anchor);
      return !exists(posix.normalize(posix.join(posix.dirname(path), file)), anchor);
    });
}

function exists(path: string, anchor: string | undefined): boolean {
  if (!existsSync(join(ROOT, path))) return false;
  return anchor === undefined || anchorsOf(read(path)).has(anchor);
}

/** Every source file of the program and its tests, by its path. */
export const sourcePaths = (): string[] =>
  ['src', 'client/src', 'client/example', 'test'].flatMap((directory) =>
    readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|tsx|js|mjs)$/.test(path))
      .map((path) => posix.join(directory, path)),
  );

/** Documents that the comments of a source file name, and that do not exist or have no such heading. */
export function brokenCitations(source: string): string[] {
  const comments = source.match(/^\s*(?:\/?\*|\/\/).*|\s\/\/\s.*/gm) ?? [];
  const cited = comments.flatMap(
    (comment) => comment.match(/(?<![\w./-])(?:docs|test)\/[\w./-]+\.md(?:#[\p{L}\p{N}_-]*)?/gu) ?? [],
  );
  return cited.filter((citation) => {
    const [file = '', anchor] = citation.split('#');
    return !exists(file, anchor);
  });
}

/** Files and folders of the project that a document names, and that do not exist. A test may be named without its ending. */
export function missingPaths(path: string, document: string): string[] {
  const named = [
    ...document.matchAll(/(?<![\w./-])(?:src|test|config|docs|client|\.github|\.ci)\/(?:[\w.-]+\/?)*/g),
  ].map(([name]) => name.replace(/\.$/, ''));
  const exists = (name: string) => [name, `${name}.e2e-spec.ts`].some((each) => existsSync(join(ROOT, each)));
  return [...new Set(named)].filter((name) => !exists(name) && !exists(posix.join(posix.dirname(path), name)));
}

const SETTING =
  /(?<![\w/])(?:BANK|EGRESS|SNAPSHOT|SANDBOX|TLS(?!_AES)|SHUTDOWN|MAX|ALLOWED|CORS|REQUEST|LOG)_[A-Z0-9_]+\b/g;
/** Settings that a document names in code, by their prefix or a name of their own. */
export const settingsIn = (document: string): string[] => [...new Set(document.match(SETTING))];
