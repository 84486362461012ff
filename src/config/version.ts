import { readFileSync } from 'node:fs';

/** Replaced by the build. */
declare const __VERSION__: string | undefined;
declare const __COMMIT__: string | null | undefined;

/** The version in package.json, fixed by the build. */
export const VERSION: string = typeof __VERSION__ === 'undefined' ? readVersion() : __VERSION__;

/** The commit of the build, 12 characters; null when it is unknown, as for a program that runs from its sources. */
export const COMMIT: string | null = typeof __COMMIT__ === 'undefined' ? null : __COMMIT__;

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
