import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface BundledPackage {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license?: string | undefined;
}

/**
 * The packages contained in a bundle, by folder.
 * @param modules paths of the bundled modules
 * @param more names of packages that are bundled elsewhere
 */
export function listBundledPackages(
  modules: readonly string[],
  more: readonly string[],
  root: string,
): BundledPackage[] {
  const folders = new Set(more.map((name) => join(root, 'node_modules', name)));
  for (const module of modules) {
    const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module.replace(/^\0/, '').replaceAll('\\', '/'))?.[0];
    if (folder !== undefined && existsSync(join(folder, 'package.json'))) folders.add(folder);
  }
  return [...folders].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as BundledPackage;
    return { folder, name, version, license };
  });
}
