import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs';

/** A file that a setting names cannot be used. `reason` continues after the file's name. */
export class FileUnusable extends Error {
  constructor(
    readonly path: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`${path} ${reason}`, options);
  }

  /** Reads on after the name of the variable that has the path. */
  get problem(): string {
    return `points to ${this.path}, which ${this.reason}`;
  }
}

const IS_DIRECTORY = 'is a directory, not a file';
const REASONS: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist (a part of its path is not a directory)',
  EISDIR: IS_DIRECTORY,
};

/** The reason why a file cannot be read; reads on after the file's name. */
function whyUnreadable(path: string, error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  if (code === 'EACCES') return whyForbidden(path);
  return REASONS[code] ?? `cannot be read (${code})`;
}

/** Names owner and mode of the file, and the command that lets this process read it. */
function whyForbidden(path: string): string {
  const user = process.geteuid?.();
  const file = stat(path);
  if (user === undefined || !file)
    return 'cannot be read by this process (check owner and mode of the file and its directories)';
  const mode = (file.mode & 0o777).toString(8);
  return `cannot be read by this process (user ${user}; the file belongs to user ${file.uid}, mode ${mode}): "chown ${user} ${path} && chmod 400 ${path}"`;
}

/** Null in a directory that this process may not search, too. */
function stat(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Maximum size of a file, bytes: larger than any certificate, key or secret. */
const MAX_BYTES = 1_048_576;
const CHUNK_BYTES = 65_536;

/**
 * The bytes of a regular file, at most `maxBytes`. Opened without blocking and checked before it is read, so that a FIFO
 * cannot hang the process. One byte more than allowed is read at most: a file of /proc says size 0 and may have no end.
 * @throws FileUnusable
 */
export function readSmallFile(path: string, maxBytes = MAX_BYTES): Buffer {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new FileUnusable(path, stat.isDirectory() ? IS_DIRECTORY : 'is not a regular file');
    if (stat.size > maxBytes) throw new FileUnusable(path, `is too large (${stat.size} bytes, at most ${maxBytes})`);
    const bytes = readAtMost(descriptor, maxBytes + 1);
    if (bytes.length > maxBytes) throw new FileUnusable(path, `is too large (more than ${maxBytes} bytes)`);
    return bytes;
  } catch (error) {
    throw error instanceof FileUnusable ? error : new FileUnusable(path, whyUnreadable(path, error), { cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The bytes up to the end of the file, or the first `maxBytes`. */
function readAtMost(descriptor: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < maxBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes - length));
    const read = readSync(descriptor, chunk);
    if (read === 0) break;
    chunks.push(chunk.subarray(0, read));
    length += read;
  }
  return Buffer.concat(chunks);
}

/**
 * Text of any Unicode encoding, without its byte order mark: UTF-8, and UTF-16 as Windows writes it, also without a mark.
 * Bytes that are not UTF-8 leave replacement characters.
 */
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

/** The same without its last line end. A page of a login or an error, saved in place of a secret, is refused. @throws FileUnusable */
export function readSecretFile(path: string): string {
  const text = readTextFile(path).replace(/\r?\n$|\r$/, '');
  if (/^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text))
    throw new FileUnusable(path, 'is an HTML page, not a secret');
  return text;
}

/** The 32 bytes that SNAPSHOT_KEY_FILE has as base64 or hex. @throws FileUnusable */
export function readSnapshotKey(path: string): Buffer {
  const text = readTextFile(path).trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  throw new FileUnusable(path, 'does not contain 32 bytes as base64 or hex; to create one: openssl rand -base64 32');
}
