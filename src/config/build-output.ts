import { readdirSync, readFileSync } from 'node:fs';

/** Replaced by the build. */
declare const __VERSION__: string | undefined;
declare const __COMMIT__: string | null | undefined;

/** The version in package.json, fixed by the build. */
export const VERSION: string = typeof __VERSION__ === 'undefined' ? readVersion() : __VERSION__;

/** The commit of the build, 12 characters; null if unknown, as when running from the sources. */
export const COMMIT: string | null = typeof __COMMIT__ === 'undefined' ? null : __COMMIT__;

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Replaced by the build. */
declare const __BUNDLED__: boolean | undefined;

/** A bundled module is in dist/ itself; tests run from the sources next to it. */
const DIST = new URL(typeof __BUNDLED__ === 'undefined' ? '../../dist/' : './', import.meta.url);

/** The URL of a file in dist/ that is not a module: a worker thread, the console page, a document. */
export const builtFile = (name: string): URL => new URL(name, DIST);

/** The files in a folder of dist/, by their paths within it. Read them at startup: a later build may replace them. */
export function readBuiltFiles(folder: string): ReadonlyMap<string, Buffer> {
  const directory = builtFile(`${folder}/`);
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
  return new Map(names.map((name) => [name, readFileSync(new URL(name, directory))]));
}
