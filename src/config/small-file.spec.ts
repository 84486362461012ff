import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { FileUnusable, readSecretFile, readSmallFile } from './small-file.js';

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

(existsSync('/proc/self/pagemap') ? it : it.skip).each([
  ['/proc/self/pagemap', undefined],
  ['/proc/self/status', 100],
])('does not read %s, whose size is 0, beyond the bound', (path, maxBytes) => {
  const before = process.memoryUsage().rss;
  expect(() => readSmallFile(path, maxBytes)).toThrow(FileUnusable);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20);
});

it('reads a file of exactly the bound, and rejects one byte more', () => {
  const path = file('bound', Buffer.alloc(200_000, 'x'));
  expect(readSmallFile(path, 200_000)).toHaveLength(200_000);
  expect(() => readSmallFile(path, 199_999)).toThrow('is too large');
});

(existsSync('/proc/self/status') ? it : it.skip)('a short file of /proc is read, though it says size 0', () => {
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

it('a file that belongs to another user: names owner and mode, and the command that mends it', () => {
  const path = file('foreign', 'x');
  chmodSync(directory, 0o755);
  chmodSync(path, process.geteuid?.() === 0 ? 0o600 : 0o000);
  const owner = process.getuid?.();
  // root may read everything
  if (owner === 0) process.seteuid?.(65_534);
  try {
    const user = process.geteuid?.();
    expect(() => readSmallFile(path)).toThrow(
      `${path} cannot be read by this process (user ${user}; the file belongs to user ${owner}, mode ${owner === 0 ? 600 : 0}): "chown ${user} ${path} && chmod 400 ${path}"`,
    );
  } finally {
    if (owner === 0) process.seteuid?.(0);
  }
});

it.each(['<!doctype html><title>Log in</title>', '\n<HTML><body>502</body></HTML>', '<body>No</body>'])(
  'rejects a secret that is a page: %j',
  (content) => {
    expect(() => readSecretFile(file('page', content))).toThrow('is an HTML page, not a secret');
    // the negative case: a password that begins like one
    expect(readSecretFile(file('page', `<${content.length}html>`))).toBe(`<${content.length}html>`);
  },
);
