import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const DIST = join(ROOT, 'dist');
/** Files and folders whose change makes a build outdated. */
export const SOURCES = [
  'src',
  'client/package.json',
  'client/README.md',
  'client/src',
  'client/testing',
  'CHANGELOG.md',
  'docs',
  'config/build',
  'package.json',
  'package-lock.json',
];

/** True if there is no build, or if any source is newer than it. */
export function isOutdated(): boolean {
  const built = statSync(join(DIST, 'main.js'), { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return true;
  return SOURCES.some((source) => newest(join(ROOT, source)) > built);
}

function newest(path: string): number {
  const entry = statSync(path);
  if (!entry.isDirectory()) return entry.mtimeMs;
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
