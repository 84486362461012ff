import { constants } from 'node:fs';
import { open as openFile, rename, unlink, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../time/clock.js';
import { Snapshot } from '../snapshot/snapshot.js';
import type { FleetKeys } from './fleet-keys.js';
import { MAX_HEADER_BYTES, open, PIECE_BYTES, Refused, seal, type Facts } from './sealing.js';

/** Of any list that was ever read, and more. */
export const MAX_SNAPSHOT_BYTES = 2 ** 31;
/** A clock that was set back by more makes the age of a copy unknown. */
const CLOCK_MAY_DIFFER_MS = 10_000;

/** Writes a snapshot, sealed: whole or not at all, for this user alone. @throws NodeJS.ErrnoException */
export async function writeSnapshotFile(path: string, snapshot: Snapshot, keys: FleetKeys): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const { askedAt, asOf, durationMs } = snapshot;
    const facts = { kind: 'snapshot', asOf, at: askedAt.wall, durationMs, fence: 0 } as const;
    const { header, pieces } = seal(new Uint8Array(snapshot.buffer), facts, keys);
    await unlink(temporary).catch(() => undefined);
    const file = await openFile(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await file.writeFile(header);
      for (const piece of pieces) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/**
 * The snapshot in a file, if there is one; its age goes by the wall clock of this machine.
 * @throws Refused when it is damaged, foreign, of another version, older than `maxAgeMs`, or from the future
 */
export async function readSnapshotFile(
  path: string,
  keys: FleetKeys,
  clock: Clock,
  maxAgeMs: number,
): Promise<Snapshot | null> {
  const file = await openExisting(path);
  if (!file) return null;
  try {
    const now = clock.now();
    const opening = open(await readStart(file), 'snapshot', keys, MAX_SNAPSHOT_BYTES);
    const ageMs = toAge(opening.facts, now.wall);
    if (ageMs > maxAgeMs) throw new Refused('too-old');
    for (let at = opening.headerBytes; ;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, at);
      if (bytesRead === 0) break;
      opening.push(buffer.subarray(0, bytesRead));
      at += bytesRead;
      await turn();
    }
    const askedAt = { wall: now.wall - ageMs, monotonic: now.monotonic - ageMs };
    return toSnapshot(opening.finish(), { askedAt, durationMs: opening.facts.durationMs });
  } catch (error) {
    throw error instanceof Refused ? error : new Refused('unreadable', { cause: error });
  } finally {
    await file.close();
  }
}

/** Bytes that this fleet has sealed as a snapshot; another version may have made them. @throws Refused */
export function toSnapshot(buffer: ArrayBuffer, times: ConstructorParameters<typeof Snapshot>[1]): Snapshot {
  try {
    return new Snapshot(buffer, times);
  } catch (error) {
    throw new Refused('foreign', { cause: error });
  }
}

/** @throws NodeJS.ErrnoException when it is there and cannot be removed */
export async function removeSnapshotFile(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

async function openExisting(path: string): Promise<FileHandle | null> {
  try {
    // not held up by a FIFO
    const file = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Refused('unreadable', { cause: error });
  }
  throw new Refused('unreadable');
}

async function readStart(file: FileHandle): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_HEADER_BYTES + 4), 0, MAX_HEADER_BYTES + 4, 0);
  return buffer.subarray(0, bytesRead);
}

function toAge({ at }: Facts, wallMs: number): number {
  const ageMs = wallMs - at;
  if (ageMs < -CLOCK_MAY_DIFFER_MS) throw new Refused('too-old');
  return Math.max(0, ageMs);
}

/** So that the name outlives a power cut; not every file system can. */
async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await openFile(path, constants.O_RDONLY);
    await directory.sync().finally(() => directory.close());
  } catch {
    // what is lost then is the newest copy, not the older one
  }
}
