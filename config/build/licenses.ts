import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/**
 * The text of THIRD-PARTY-LICENSES.txt: each package that a bundle contains, with its licence text.
 * @param modules paths of the bundled modules
 * @param more names of packages that are bundled elsewhere
 */
export function collectLicenses(modules: readonly string[], more: readonly string[], root: string): string {
  const folders = new Set(more.map((name) => join(root, 'node_modules', name)));
  for (const module of modules) {
    const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module.replace(/^\0/, '').replaceAll('\\', '/'))?.[0];
    if (folder !== undefined && existsSync(join(folder, 'package.json'))) folders.add(folder);
  }
  const entries = [...folders].map((folder) => ({ folder, text: toEntry(folder) }));
  return entries
    .toSorted((a, b) => relative(root, a.folder).localeCompare(relative(root, b.folder), 'en'))
    .map(({ text }) => text)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function toEntry(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${name} ${version} (${license ?? 'see below'})\n\n${texts.join('\n\n') || 'The package has no licence file.'}\n`;
}
