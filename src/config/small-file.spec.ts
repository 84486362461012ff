import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { readSecretFile, readSmallFile } from './small-file.js';

const directory = mkdtempSync(join(tmpdir(), 'small-file-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

it('a small file is read, through a symbolic link too, as Kubernetes mounts secrets', () => {
  const link = join(directory, 'link');
  symlinkSync(file('bytes', Buffer.from([0, 255, 10])), link);
  expect(readSmallFile(link)).toEqual(Buffer.from([0, 255, 10]));
});

it.each<[string, string, () => string]>([
  [
    'huge, without being read',
    'is too large (10737418240 bytes, at most 1048576)',
    () => {
      const path = file('huge', 'x');
      truncateSync(path, 10 * 2 ** 30);
      return path;
    },
  ],
  ['missing', 'does not exist', () => join(directory, 'nowhere')],
  ['below a file', 'does not exist (a part of its path is not a directory)', () => join(file('part', 'x'), 'below')],
  ['a directory', 'is not a regular file', () => directory],
  [
    'a FIFO that nobody writes to',
    'is not a regular file',
    () => {
      const path = join(directory, 'fifo');
      execFileSync('mkfifo', [path]);
      return path;
    },
  ],
  ['a device', 'is not a regular file', () => '/dev/zero'],
])('a file that is %s is refused: it %s', (_name, reason, create) => {
  const path = create();
  expect(() => readSmallFile(path)).toThrow(expect.objectContaining({ path, reason }));
});

it.each([
  ['secret', 'secret'],
  ['secret\n', 'secret'],
  ['secret\r\n', 'secret'],
  ['secret\n\n', 'secret\n'],
  [' sec ret ', ' sec ret '],
  ['pässwörd € $HOME #"\'\\', 'pässwörd € $HOME #"\'\\'],
  ['\n', ''],
])('a file with %j is the secret %j', (content, secret) => {
  expect(readSecretFile(file('secret', content))).toBe(secret);
});
