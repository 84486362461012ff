import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FileUnusable, readSecretFile, readSmallFile } from './small-file.js';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'small-file-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

function reasonOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof FileUnusable) return error.reason;
    throw error;
  }
  throw new Error('was read');
}

describe('a small file', () => {
  it('is given as its bytes', () => {
    expect(readSmallFile(file('bytes', Buffer.from([0, 255, 10])), 3)).toEqual(Buffer.from([0, 255, 10]));
  });

  it('is read through a symbolic link, as Kubernetes keeps secrets', () => {
    const link = join(directory, 'link');
    symlinkSync(file('target', 'x'), link);
    expect(readSmallFile(link, 10).toString()).toBe('x');
  });

  it('is refused when it is one byte too large', () => {
    expect(reasonOf(() => readSmallFile(file('large', 'abcd'), 3))).toBe(
      'is too large (4 bytes, at most 3 are expected)',
    );
  });

  it('is refused without being read when it is huge', () => {
    const path = file('huge', 'x');
    truncateSync(path, 10 * 2 ** 30);
    expect(reasonOf(() => readSmallFile(path, 1_048_576))).toContain('is too large');
  });

  it('is refused when it is missing', () => {
    expect(reasonOf(() => readSmallFile(join(directory, 'nowhere'), 10))).toBe('does not exist');
  });

  it('is refused when a part of its path is a file', () => {
    expect(reasonOf(() => readSmallFile(join(file('part', 'x'), 'below'), 10))).toContain('is no directory');
  });

  it('is refused when it is empty', () => {
    expect(reasonOf(() => readSmallFile(file('empty', ''), 10))).toBe('is empty');
  });

  it('is refused when it is a directory', () => {
    const path = join(directory, 'folder');
    mkdirSync(path);
    expect(reasonOf(() => readSmallFile(path, 10))).toBe('is a directory, not a file');
  });

  it('is refused at once when it is a FIFO that nobody writes to', () => {
    const path = join(directory, 'fifo');
    execFileSync('mkfifo', [path]);
    expect(reasonOf(() => readSmallFile(path, 10))).toBe('is not a regular file');
  });

  it('is refused when it is a device', () => {
    expect(reasonOf(() => readSmallFile('/dev/zero', 10))).toBe('is not a regular file');
  });

  it('is refused when it is a circle of links', () => {
    const path = join(directory, 'circle');
    symlinkSync(path, path);
    expect(reasonOf(() => readSmallFile(path, 10))).toBe('is a circle of symbolic links');
  });
});

describe('a secret in a file', () => {
  it.each([
    ['no line end', 'secret', 'secret'],
    ['a line end', 'secret\n', 'secret'],
    ['the line end of Windows', 'secret\r\n', 'secret'],
    ['two line ends, of which one is dropped', 'secret\n\n', 'secret\n'],
    ['spaces around it, which are its own', ' sec ret ', ' sec ret '],
    ['UTF-8', 'pässwörd €', 'pässwörd €'],
    ['what a shell would change', '$HOME #"\'\\', '$HOME #"\'\\'],
  ])('with %s', (name, content, secret) => {
    expect(readSecretFile(file(`secret ${name.slice(0, 8)}`, content))).toBe(secret);
  });

  it.each(['\n', '\r\n'])('is refused as empty when it is nothing but a line end (%j)', (content) => {
    expect(reasonOf(() => readSecretFile(file('only-line-end', content)))).toBe('is empty');
  });
});
