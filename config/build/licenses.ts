import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BundledPackage } from './bundled-packages.ts';

/** The text of THIRD-PARTY-LICENSES.txt: each package in a bundle, with its license text. */
export const collectLicenses = (packages: readonly BundledPackage[]): string =>
  packages.map(toEntry).join(`\n${'-'.repeat(80)}\n\n`);

function toEntry({ folder, name, version, license }: BundledPackage): string {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${name} ${version} (${license ?? 'see below'})\n\n${texts.join('\n\n') || 'The package has no licence file.'}\n`;
}
