import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const TEST = dirname(dirname(fileURLToPath(import.meta.url)));
const NAMED = /`((?:\.\.\/src\/|soak\/)?[\w./-]+\.(?:e2e-)?spec\.ts)`/g;

const readme = readFileSync(join(TEST, 'README.md'), 'utf8');
const rows = readme.split('\n').filter((line) => /^\| [^-]/.test(line) && !/^\| (fault|what) /.test(line));
const named = (text: string) => [...text.matchAll(NAMED)].map(([, name = '']) => name);

describe('the index of faults', () => {
  it('names tests that exist', () => {
    const all = named(readme);
    expect(all.length).toBeGreaterThan(80);
    expect(all.filter((name) => !existsSync(join(TEST, name)))).toEqual([]);
  });

  it('its twin: a test that was renamed is found missing', () => {
    const renamed = readme.replaceAll('clock-and-sleep', 'clock-and-slumber');
    expect(named(renamed).filter((name) => !existsSync(join(TEST, name)))).toContain(
      'process/clock-and-slumber.e2e-spec.ts',
    );
  });

  it('names a test, or a reason, for each fault', () => {
    const [provoked = '', notProvoked = ''] = readme.split('### Not provoked here');
    const faults = (text: string) =>
      rows.filter((row) => text.includes(row) && !row.includes('npm run') && !row.includes('FUZZ_SEED'));
    expect(faults(provoked).length).toBeGreaterThan(50);
    expect(faults(provoked).filter((row) => named(row).length === 0)).toEqual([]);
    for (const row of faults(notProvoked)) expect(row.split('|')[2]?.trim().length).toBeGreaterThan(20);
  });

  it('leaves out no test of faults', () => {
    const files = ['bank-faults', 'fuzz', 'soak'].flatMap((room) =>
      readdirSync(join(TEST, room))
        .filter((name) => name.endsWith('.e2e-spec.ts'))
        .map((name) => `${room}/${name}`),
    );
    expect(files.length).toBeGreaterThan(8);
    expect(files.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });
});
