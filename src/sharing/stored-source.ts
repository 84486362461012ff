import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { ListThread } from '../snapshot/list-thread.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import {
  SnapshotSource,
  type Accepts,
  type ReadSnapshot,
  type RefreshRequest,
  type SharingStatus,
} from '../snapshot/snapshot-source.js';
import { later, type Clock, type Instant } from '../time/clock.js';
import { open, OVERHEAD_BYTES, readHeader, Refused, seal, type Group, type SealedFacts } from './sealing.js';

/** Tolerance for copies dated in the future, ms. Beyond it, a clock was set back, and the age of a copy is unknown. */
const CLOCK_MAY_DIFFER_MS = 1000;

/** The stored copy as a place shows it at one moment. */
export interface Look {
  /** The moment by the clocks of this machine. */
  readonly at: Instant;
  /** The moment by the clock of the place, which dates copies, ms since 1970. */
  readonly nowMs: number;
  /** Size of the sealed copy, bytes; 0 without one. */
  readonly bytes: number;
  /** The begin of the copy, not authenticated; null for a value of another kind. */
  readonly header: Buffer | null;
}

/** When this instance last stored and took a copy, ISO 8601; null for never. */
export interface StoredTimes {
  readonly lastStoredAt: string | null;
  readonly lastTakenAt: string | null;
}

/** Where the one sealed copy of a group is stored. It logs when it cannot be used. */
export interface Place {
  readonly kind: 'redis' | 'file';
  readonly source: 'shared' | 'file';
  /** Larger copies are not stored. */
  readonly maxBytes: number;
  /** The shortest time between two writes, ms. */
  readonly writeEveryMs: number;
  look(group: Group): Promise<Look>;
  load(group: Group, look: Look): Promise<Buffer>;
  write(group: Group, sealed: Buffer, asOfMs: number): Promise<void>;
  drop(group: Group): Promise<void>;
  status(times: StoredTimes): Partial<SharingStatus>;
}

export interface StoredSourceParts {
  readonly group: () => Promise<Group>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A wait for a copy: when it began, and the age of the copy that was there then. */
export interface Wait {
  readonly began: Instant;
  readonly firstAsOfMs: number;
}

/** Stores the snapshots of another source as one sealed copy, and takes that copy (docs/fleet.md). */
export class StoredSource extends SnapshotSource {
  #pending: Snapshot | null = null;
  #timer: NodeJS.Timeout | undefined;
  #writtenAt = -Infinity;
  /** Background work on the place, one after the other. */
  #work: Promise<void> = Promise.resolve();
  /** The last copy that could not be opened: it is not loaded again. */
  #refused: string | null = null;
  /** The reason that was logged last. Cleared when a copy was taken. */
  #reported: Refused['reason'] | null = null;
  /** When the bank withdrew the grant: no copy from before is taken. */
  #withdrawnAt: Instant | null = null;
  #lastTakenAt: string | null = null;
  #lastStoredAt: string | null = null;

  constructor(
    protected readonly source: SnapshotSource,
    private readonly place: Place,
    protected readonly parts: StoredSourceParts,
  ) {
    super();
  }

  override async read(request: RefreshRequest): Promise<ReadSnapshot> {
    try {
      const read = await this.source.read(request);
      this.keep(read.snapshot);
      return read;
    } catch (error) {
      this.noteFailure(error);
      throw error;
    }
  }

  override async take(accepts: Accepts): Promise<ReadSnapshot | null> {
    try {
      const group = await this.parts.group();
      const look = await this.place.look(group);
      const copy = await this.takeFrom(group, look, this.toWait(group, look), accepts);
      const facts = this.#readHeader(group, look);
      if (!copy && facts && !this.#isInTime(facts, look)) this.#report(new Refused('too-old'));
      return copy;
    } catch (error) {
      this.#report(error);
      return null;
    }
  }

  override status(): SharingStatus {
    const times = { lastStoredAt: this.#lastStoredAt, lastTakenAt: this.#lastTakenAt };
    return { ...this.source.status(), ...this.place.status(times) };
  }

  /** Writes what is pending. */
  override async close(): Promise<void> {
    this.#writePending();
    await this.#work;
    await this.source.close();
  }

  /** Writes the snapshot in the background, as often as the place allows. */
  protected keep(snapshot: Snapshot): void {
    this.#withdrawnAt = null;
    this.#pending = snapshot;
    const inMs = this.#writtenAt + this.place.writeEveryMs - performance.now();
    if (inMs <= 0) this.#writePending();
    else this.#timer ??= setTimeout(() => this.#writePending(), inMs).unref();
  }

  /** Deletes the copy if the bank has withdrawn the grant. */
  protected noteFailure(error: unknown): void {
    if (!(error instanceof GatewayError) || error.code !== 'access-not-granted') return;
    this.#withdrawnAt = this.parts.clock.now();
    this.#pending = null;
    this.inBackground(async () => this.place.drop(await this.parts.group()));
  }

  /** Runs work after what runs already. A failure is logged, and nothing else. */
  protected inBackground(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => this.#report(error));
  }

  protected toWait(group: Group, look: Look): Wait {
    return { began: look.at, firstAsOfMs: this.#readHeader(group, look)?.asOfMs ?? -Infinity };
  }

  /** The copy that was looked at; null without one, or if it is not accepted. @throws an error of the place */
  protected async takeFrom(group: Group, look: Look, wait: Wait, accepts: Accepts): Promise<ReadSnapshot | null> {
    const facts = this.#readHeader(group, look);
    if (!facts || !this.#isAccepted(facts, look, wait, accepts)) return null;
    try {
      const opened = await open(await this.place.load(group, look), group);
      // what was looked at was not authenticated, and may have been replaced
      if (!this.#isAccepted(opened.facts, look, wait, accepts)) return null;
      const snapshot = await toSnapshot(opened, toInstant(opened.facts, look));
      this.#reported = null;
      this.#lastTakenAt = this.#now();
      return { snapshot, pages: 0, source: this.place.source };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#refused = toIdentity(look);
      this.#report(error);
      return null;
    }
  }

  #readHeader(group: Group, look: Look): SealedFacts | null {
    if (look.bytes === 0 || toIdentity(look) === this.#refused) return null;
    try {
      if (look.bytes > this.place.maxBytes + OVERHEAD_BYTES) throw new Refused('too-large');
      return readHeader(look.header ?? Buffer.alloc(0), group);
    } catch (error) {
      this.#report(error);
      return null;
    }
  }

  #isAccepted(facts: SealedFacts, look: Look, { began, firstAsOfMs }: Wait, accepts: Accepts): boolean {
    const { clock } = this.parts;
    const { asOfMs, durationMs } = facts;
    const askedAt = toInstant(facts, look);
    if (this.#withdrawnAt && askedAt.monotonic <= this.#withdrawnAt.monotonic) return false;
    if (isFromFuture(facts, look)) return false;
    const leadMs = clock.since(askedAt) - clock.since(began);
    return accepts({ leadMs, durationMs, isAwaited: asOfMs > firstAsOfMs });
  }

  #isInTime(facts: SealedFacts, look: Look): boolean {
    const ageMs = this.parts.clock.since(toInstant(facts, look));
    return ageMs <= this.parts.settings.SNAPSHOT_MAX_AGE_MS && !isFromFuture(facts, look);
  }

  #writePending(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const snapshot = this.#pending;
    this.#pending = null;
    if (!snapshot) return;
    this.#writtenAt = performance.now();
    this.inBackground(async () => {
      const { list, durationMs, complete } = snapshot;
      const json = await list.toJson(this.place.maxBytes);
      if (!json) throw new Refused('too-large');
      const asOfMs = Date.parse(snapshot.asOf);
      const group = await this.parts.group();
      await this.place.write(group, await seal({ json, facts: { asOfMs, durationMs, complete } }, group), asOfMs);
      this.#lastStoredAt = this.#now();
    });
  }

  /** Logs why a copy is ignored or not stored, once. Other failures are those of the place, which logs them. */
  #report(error: unknown): void {
    if (!(error instanceof Refused) || error.reason === this.#reported) return;
    this.#reported = error.reason;
    const { kind: what, maxBytes } = this.place;
    const { reason } = error;
    const name = what === 'redis' ? 'Redis' : 'SNAPSHOT_FILE';
    const message =
      reason === 'too-large'
        ? `a copy larger than ${maxBytes / 1_048_576} MB is neither stored in ${name} nor taken from it`
        : `the copy in ${name} is ignored (${reason})`;
    this.parts.logger.warn({ event: 'sharing.refused', what, reason }, message);
  }

  #now(): string {
    return new Date(this.parts.clock.now().wall).toISOString();
  }
}

/** When the bank was asked, by the clocks of this machine. */
const toInstant = ({ asOfMs }: SealedFacts, { at, nowMs }: Look): Instant => later(at, asOfMs - nowMs);

const isFromFuture = ({ asOfMs }: SealedFacts, { nowMs }: Look): boolean => asOfMs > nowMs + CLOCK_MAY_DIFFER_MS;

const toIdentity = ({ header, bytes }: Look): string => `${bytes} ${header?.toString('base64')}`;

/** The snapshot of a stored copy, in its own thread. @throws Refused */
async function toSnapshot({ json, facts }: Awaited<ReturnType<typeof open>>, askedAt: Instant): Promise<Snapshot> {
  const { asOfMs, durationMs, complete } = facts;
  const list = new ListThread();
  try {
    const size = await list.restore(json);
    return { list, size, askedAt, asOf: new Date(asOfMs).toISOString(), durationMs, complete };
  } catch (error) {
    await list.end();
    throw new Refused('damaged', { cause: error });
  }
}
