import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { FileUnusable, readSecretFile, readSmallFile, whyNotWritten } from './small-file.js';

const directory = mkdtempSync(join(tmpdir(), 'small-file-'));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

it('reads a small file, also through a symbolic link as in Kubernetes', () => {
  const link = join(directory, 'link');
  symlinkSync(file('bytes', Buffer.from([0, 255, 10])), link);
  expect(readSmallFile(link)).toEqual(Buffer.from([0, 255, 10]));
});

it.each<[string, string, () => string]>([
  [
    'huge',
    'is larger than 1048576 bytes',
    () => {
      const path = file('huge', 'x');
      truncateSync(path, 10 * 2 ** 30);
      return path;
    },
  ],
  ['a byte too large', 'is larger than 1048576 bytes', () => file('large', Buffer.alloc(1_048_577))],
  ['missing', 'does not exist', () => join(directory, 'nowhere')],
  ['below a file', 'does not exist (a part of its path is not a directory)', () => join(file('part', 'x'), 'below')],
  ['a directory', 'is a directory, not a file', () => directory],
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
])('rejects a file that is %s: it %s', (_name, reason, create) => {
  const path = create();
  expect(() => readSmallFile(path)).toThrow(expect.objectContaining({ path, reason }));
});

(existsSync('/proc/self/pagemap') ? it : it.skip)(
  'reads at most the maximum size of a file that reports size 0',
  () => {
    const before = process.memoryUsage().rss;
    expect(() => readSmallFile('/proc/self/pagemap')).toThrow(FileUnusable);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
  },
);

it('reads a file of exactly the maximum size', () => {
  expect(readSmallFile(file('bound', Buffer.alloc(1_048_576, 'x')))).toHaveLength(1_048_576);
});

(existsSync('/proc/self/status') ? it : it.skip)('a short file in /proc is read, although it reports size 0', () => {
  expect(readSmallFile('/proc/self/status').toString()).toContain('Pid:');
});

it.each([
  ['secret', 'secret'],
  ['secret\n', 'secret'],
  ['secret\r\n', 'secret'],
  ['secret\n\n', 'secret\n'],
  [' sec ret ', ' sec ret '],
  ['pässwörd € $HOME #"\'\\', 'pässwörd € $HOME #"\'\\'],
  ['\n', ''],
])('reads the secret from %j as %j', (content, secret) => {
  expect(readSecretFile(file('secret', content))).toBe(secret);
});

it('names the user of the process if a file belongs to another user', () => {
  const path = file('foreign', 'x');
  chmodSync(directory, 0o755);
  chmodSync(path, process.geteuid?.() === 0 ? 0o600 : 0o000);
  // root can read every file
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    const user = process.geteuid?.();
    expect(() => readSmallFile(path)).toThrow(`${path} cannot be read by this process (user ${user}); check owner`);
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});

it.each(['<!doctype html><title>Log in</title>', '\n<HTML><body>502</body></HTML>', '<body>No</body>'])(
  'rejects an HTML page in place of a secret: %j',
  (content) => {
    expect(() => readSecretFile(file('page', content))).toThrow('is an HTML page, not a secret');
    // the negative case: a password that begins like HTML
    expect(readSecretFile(file('page', `<${content.length}html>`))).toBe(`<${content.length}html>`);
  },
);

it.each<[string, (name: string) => string, string]>([
  ['mounted', () => '/', 'it is mounted as a single file, which cannot be replaced (EBUSY)'],
  ['in no directory', (name) => join(directory, name, 'x'), 'its directory does not exist (ENOENT)'],
  ['below a file', (name) => join(file(name, ''), 'x'), 'not a directory (ENOTDIR)'],
  [
    'a directory',
    (name) => (mkdirSync(join(directory, name)), join(directory, name)),
    'illegal operation on a directory (EISDIR)',
  ],
  ['a full disk', () => '/dev/full', 'no space left on device (ENOSPC)'],
])('the reason why a file cannot be written is in words: %s', (name, create, reason) => {
  const path = create(name);
  const write = () => {
    try {
      // only rename shows that something is mounted there
      return path === '/' ? renameSync(directory, path) : writeFileSync(path, 'x');
    } catch (error) {
      return whyNotWritten(error);
    }
  };
  expect(write()).toBe(reason);
});
