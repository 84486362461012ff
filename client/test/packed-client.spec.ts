import { cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from '@jest/globals';
import { problemWith, readPackedClient } from '../../config/checks/packed-client.js';
import { temporaryDirectory } from '../../test/support/closing.js';
import { ROOT } from '../../test/support/documents.js';

let folder: string;
beforeEach(() => {
  folder = temporaryDirectory();
  for (const name of ['package.json', 'README.md', 'src']) {
    cpSync(join(ROOT, 'client', name), join(folder, name), { recursive: true });
  }
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'dist/index.js'), 'export {};\n');
});

it('the same files have the same digest, wherever they are, and whatever else is in the folder', () => {
  const recorded = readPackedClient(folder);
  const elsewhere = temporaryDirectory();
  cpSync(folder, elsewhere, { recursive: true });
  writeFileSync(join(elsewhere, 'tsconfig.json'), '{}');
  expect(problemWith(readPackedClient(elsewhere), recorded, true)).toBeNull();
});

it.each<[string, () => void]>([
  ['a source', () => writeFileSync(join(folder, 'src/index.ts'), 'export {};\n')],
  ['the compiled code', () => writeFileSync(join(folder, 'dist/index.js'), 'export {}\n')],
  ['its README', () => writeFileSync(join(folder, 'README.md'), '')],
  ['the name of a file', () => renameSync(join(folder, 'dist/index.js'), join(folder, 'dist/other.js'))],
])(
  'a changed %s is found: before the release it must be recorded, afterwards the version must be raised',
  (_what, change) => {
    const recorded = readPackedClient(folder);
    change();
    const changed = readPackedClient(folder);
    expect(problemWith(changed, recorded, false)).toBe('run npm run client:record');
    expect(problemWith(changed, recorded, true)).toMatch(/released with other bytes: raise the version/);
    expect(problemWith({ ...changed, version: '1000.0.0' }, recorded, false)).toBe('run npm run client:record');
  },
);
