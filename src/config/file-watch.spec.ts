import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { FileWatch } from './file-watch.js';

let directory: string;
let file: string;
let watch: FileWatch;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'watch-'));
  file = join(directory, 'watched');
  writeFileSync(file, 'first');
  watch = new FileWatch([file]);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const look = () => watch.takeChange();

it('reports nothing without a change', () => {
  expect([look(), look()]).toEqual([false, false]);
});

it.each<[string, () => void]>([
  ['written', () => writeFileSync(file, 'other')],
  ['removed', () => unlinkSync(file)],
  [
    'replaced by rename',
    () => {
      writeFileSync(`${file}.new`, 'first');
      renameSync(`${file}.new`, file);
    },
  ],
  [
    'a link that leads elsewhere',
    () => {
      writeFileSync(`${file}.other`, 'first');
      unlinkSync(file);
      symlinkSync(`${file}.other`, file);
    },
  ],
])('a file %s is reported once, at the second poll', (_name, change) => {
  change();
  expect([look(), look(), look()]).toEqual([false, true, false]);
});

it('a change that is acknowledged is not reported', () => {
  writeFileSync(file, 'other');
  expect(look()).toBe(false);
  watch.acknowledge();
  expect([look(), look()]).toEqual([false, false]);
});

it('waits for a file that is still being written, but not forever', () => {
  const looks = Array.from({ length: 5 }, (_, length) => {
    writeFileSync(file, 'x'.repeat(length + 10));
    return look();
  });
  expect(looks).toEqual([false, false, false, true, false]);
  watch.acknowledge();
  expect(look()).toBe(false);
  writeFileSync(file, 'again');
  expect(look()).toBe(false);
});
