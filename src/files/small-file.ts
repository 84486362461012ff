import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { getSystemErrorMessage } from 'node:util';

/** Thrown for a file of a setting or an option that cannot be used. `reason` continues a sentence that begins with its name. */
export class FileUnusable extends Error {
  constructor(
    readonly path: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`${path} ${reason}`, options);
  }

  /** Continues a sentence that begins with the name of the path's variable. */
  get problem(): string {
    const hint = hintOf(this.path, false) ?? hintOfPath(this.path) ?? hintOfBase(this.path);
    return `points to ${this.path}, which ${this.reason}${hint === null ? '' : `; its value ${hint}`}`;
  }
}

/** The `problem` of a file that `read` cannot use; null if it can. */
export function whyUnusable(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (!(error instanceof FileUnusable)) throw error;
    return error.problem;
  }
}

function whyUnreadable(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'does not exist';
  if (code === 'ENOTDIR') return 'does not exist (a part of its path is not a directory)';
  if (code !== 'EACCES') return `cannot be read (${code})`;
  return `cannot be read by this process (user ${process.geteuid?.()}); check owner and mode of the file and its directories`;
}

export function whyNotWritten(error: unknown): string {
  const { code = 'unknown error', errno } = error as NodeJS.ErrnoException;
  const words = NOT_WRITTEN[code] ?? (errno && getSystemErrorMessage(errno));
  return words ? `${words} (${code})` : code;
}

/** Where the system's own words mislead, or Node has none. */
const NOT_WRITTEN: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist',
  EBUSY: 'it is mounted as a single file, which cannot be replaced',
  EDQUOT: 'the disk quota is used up',
};

/** Larger than any certificate, key or secret. */
const MAX_BYTES = 1_048_576;
const CHUNK_BYTES = 16_384;

/**
 * The bytes of a regular file of at most `maxBytes`, by default 1 MB. Opened without blocking, because a FIFO would hang the
 * process, and read in pieces, because a file in /proc reports size 0 and may be endless.
 * @throws FileUnusable
 */
export function readSmallFile(path: string, maxBytes = MAX_BYTES): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) throw new FileUnusable(path, 'is a directory, not a file');
    if (!stat.isFile()) throw new FileUnusable(path, 'is not a regular file');
    const chunks: Buffer[] = [];
    for (let length = 0; length <= maxBytes;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const read = readSync(descriptor, chunk);
      if (read === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
    throw new FileUnusable(path, `is larger than ${maxBytes} bytes`);
  } catch (error) {
    throw error instanceof FileUnusable ? error : new FileUnusable(path, whyUnreadable(error), { cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Text without its byte order mark: UTF-8, with replacement characters, or UTF-16, which may have no mark. */
export function decodeText(bytes: Buffer): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

function encodingOf(bytes: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [a, b, c, d] = bytes;
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0 && c !== 0 && d === 0)) return 'utf-16le';
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && c === 0 && d !== 0)) return 'utf-16be';
  return 'utf-8';
}

/** The text of a small file. @throws FileUnusable */
export const readTextFile = (path: string): string => decodeText(readSmallFile(path));

/** The same without the final line break. Rejects an HTML page that was saved in its place. @throws FileUnusable */
export function readSecretFile(path: string): string {
  const text = readTextFile(path).replace(/\r?\n$|\r$/, '');
  if (/^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text))
    throw new FileUnusable(path, 'is an HTML page, not a secret');
  return text;
}

/** The 32 bytes in SNAPSHOT_KEY_FILE, which are base64 or hex. @throws FileUnusable */
export function readSnapshotKey(path: string): Buffer {
  const text = readTextFile(path).trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  throw new FileUnusable(path, 'does not contain 32 bytes as base64 or hex; to create one: openssl rand -base64 32');
}

// What an operator most likely mistyped. Each hint continues a sentence that begins with "the value of X". None contains
// the value, which may be a secret.

/** A hint about any value; null if nothing stands out. A secret is sent as it is, invisible characters included. */
export function hintOf(text: string, secret: boolean): string | null {
  if (/^(["'`]).*\1$/s.test(text)) {
    return 'begins and ends with a quote; leave the quotes out unless they belong to it (docker run --env-file keeps them)';
  }
  const hidden = secret && /^[\s\p{Cf}]|[\s\p{Cf}]$/u.test(text);
  return hidden ? 'begins or ends with a space or an invisible character, which is sent as part of it' : null;
}

/** A hint about a path that a shell would have changed; null for any other. */
export const hintOfPath = (path: string): string | null =>
  /^~|\$\w|\$\{|%\w+%/.test(path) ? 'contains ~, $ or %, which only a shell expands; write out the whole path' : null;

/** A hint about a relative path, for a file that cannot be used; null for an absolute one. */
const hintOfBase = (path: string): string | null =>
  isAbsolute(path) ? null : `is a relative path, from ${process.cwd()}`;
