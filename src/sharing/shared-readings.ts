import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Settings } from '../config/settings.js';
import { MAGIC } from '../snapshot/layout.js';
import { SECTIONS } from '../snapshot/sections.js';
import { SharedReadings, type Acceptable, type ReadAccounts, type ReadSnapshot } from '../snapshot/snapshot-reader.js';
import type { SharedTask, Found, Job } from './shared-task.js';
import type { Fleet } from './fleet.js';
import type { FleetKeys } from './fleet-keys.js';
import { RedisFailure, type RedisLink } from './redis-link.js';
import { open, PIECE_BYTES, Refused, seal, TAG_BYTES, type Opening } from './sealing.js';
import { MAX_SNAPSHOT_BYTES, toSnapshot } from './snapshot-file.js';

/** Instances of a version with another form of snapshots read for themselves: they cannot use each other's. */
const FORM = createHash('sha256')
  .update(JSON.stringify([MAGIC, SECTIONS]))
  .digest('hex')
  .slice(0, 8);

export const READING = `reading-${FORM}`;

/** Pieces under way at once: enough to keep the line busy, and no more memory than that. */
const AT_ONCE = 8;
/** For each piece of a snapshot that comes from Redis: a longer pause means that it is slow. */
const PIECE_WITHIN_MS = 200;
const STORE_PIECE_WITHIN_MS = 1000;
/** Those who still read the one before have so long. */
const REPLACED_LASTS_MS = 5000;
const LASTS_LONGER_MS = 10_000;
/** A snapshot from the future: Redis' clock was set back, and tells nothing of its age. */
const CLOCK_MAY_DIFFER_MS = 1000;

/** One reading for the fleet, whichever instance asks (docs/fleet.md#how-it-works). */
export class FleetReadings extends SharedReadings {
  readonly #fleet: Fleet;
  readonly #lastsMs: number;

  constructor(fleet: Fleet, settings: Settings) {
    super();
    this.#fleet = fleet;
    this.#lastsMs = Math.max(settings.SNAPSHOT_MAX_AGE_MS, settings.SNAPSHOT_FRESH_MS) + LASTS_LONGER_MS;
  }

  override share(read: ReadAccounts, material: () => IdentityMaterial): ReadAccounts {
    return async (refreshId, signal, acceptable) => {
      const { keys, task } = this.#fleet.taskOf(material(), READING);
      const { value, source } = await task.run(
        new ReadingJob(this.#fleet.link, keys, task, this.#lastsMs, acceptable, (asOfMs) =>
          read(refreshId, signal, acceptable, asOfMs),
        ),
        signal,
      );
      return { ...value, source };
    };
  }
}

class ReadingJob implements Job<ReadSnapshot> {
  constructor(
    private readonly link: RedisLink,
    private readonly keys: FleetKeys,
    private readonly task: SharedTask,
    private readonly lastsMs: number,
    private readonly acceptable: Acceptable | undefined,
    private readonly read: (asOfMs: number | undefined) => Promise<ReadSnapshot>,
  ) {}

  async find({ fence, record, time, wasInFlight, waitedMs, droppedAt }: Found): Promise<ReadSnapshot | null> {
    const opening = open(record, 'snapshot', this.keys, MAX_SNAPSHOT_BYTES);
    const { at, durationMs } = opening.facts;
    if (opening.facts.fence !== fence) throw new Refused('damaged');
    const ageMs = time.now() - at;
    const { maxAgeMs = () => 0, maxBegunMs = 0 } = this.acceptable ?? {};
    const youngEnough = ageMs <= maxAgeMs(durationMs) || (wasInFlight && ageMs - waitedMs <= maxBegunMs);
    if (!youngEnough || at < droppedAt || ageMs < -CLOCK_MAY_DIFFER_MS) return null;
    const buffer = await this.#load(opening, fence);
    return buffer && { snapshot: toSnapshot(buffer, { askedAt: time.toInstant(at), durationMs }), pages: 0 };
  }

  work(time: Parameters<Job<ReadSnapshot>['work']>[0]): Promise<ReadSnapshot> {
    return this.read(time?.now());
  }

  async store({ snapshot }: ReadSnapshot, fence: number, time: Found['time']) {
    const { askedAt, asOf, durationMs } = snapshot;
    const facts = { kind: 'snapshot', asOf, at: time.of(askedAt), durationMs, fence } as const;
    const { header, pieces } = seal(new Uint8Array(snapshot.buffer), facts, this.keys);
    const sent: Promise<unknown>[] = [];
    for (const piece of pieces) {
      const args = ['SET', this.#pieceKey(fence, sent.length), piece, 'PX', String(this.lastsMs)];
      const reply = this.link.send(args, STORE_PIECE_WITHIN_MS, 'bulk');
      // the first failure is thrown below
      reply.catch(() => undefined);
      sent.push(reply);
      await (sent.length >= AT_ONCE ? sent[sent.length - AT_ONCE] : turn());
    }
    await Promise.all(sent);
    return { record: header, pieces: sent.length, lastsMs: this.lastsMs };
  }

  replaced(fence: number, pieces: number): void {
    for (let piece = 0; piece < pieces; piece += 1) {
      const args = ['PEXPIRE', this.#pieceKey(fence, piece), String(REPLACED_LASTS_MS)];
      void this.link.send(args, STORE_PIECE_WITHIN_MS, 'bulk').catch(() => undefined);
    }
  }

  /** Null when a piece is gone: there is a newer one then. @throws Refused, RedisFailure */
  async #load(opening: Opening, fence: number): Promise<ArrayBuffer | null> {
    const under = new Map<number, Promise<unknown>>();
    const ask = (piece: number) => {
      if (piece >= opening.pieces) return;
      const range = ['0', String(PIECE_BYTES + TAG_BYTES - 1)];
      const reply = this.link.send(['GETRANGE', this.#pieceKey(fence, piece), ...range], PIECE_WITHIN_MS, 'bulk');
      reply.catch(() => undefined);
      under.set(piece, reply);
    };
    try {
      for (let piece = 0; piece < AT_ONCE; piece += 1) ask(piece);
      for (let piece = 0; piece < opening.pieces; piece += 1) {
        const bytes = await under.get(piece);
        under.delete(piece);
        if (!Buffer.isBuffer(bytes)) throw new Refused('damaged');
        if (bytes.length === 0) return null;
        opening.push(bytes);
        ask(piece + AT_ONCE);
        if (opening.pieces > 1) await turn();
      }
      return opening.finish();
    } catch (error) {
      if (error instanceof RedisFailure && !error.refused) this.link.failed('commands', error);
      throw error instanceof RedisFailure && error.refused ? new Refused('damaged', { cause: error }) : error;
    }
  }

  #pieceKey(fence: number, piece: number): string {
    return `${this.task.store.recordKey}:${fence}:${piece}`;
  }
}
