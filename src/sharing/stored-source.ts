import type { Logger } from 'pino';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { ListThread } from '../snapshot/list-thread.js';
import {
  SnapshotSource,
  type Accepts,
  type RefreshRequest,
  type SharingStatus,
  type Snapshot,
} from '../snapshot/snapshot-source.js';
import { later, type Clock, type Instant } from '../time/clock.js';
import { open, OVERHEAD_BYTES, readHeader, CopyRejected, seal, type Group, type Opened } from './sealing.js';

/** Larger copies are neither stored nor taken. */
export const MAX_STORED_BYTES = 64 * 1_048_576;
/** A copy from further in the future, ms, has an unknown age: a clock was set back. */
const CLOCK_MAY_DIFFER_MS = 1000;

export interface CopyState {
  /** Time of the check. */
  readonly at: Instant;
  /** Time of the check by the store's clock, which dates the copies, ms since 1970. */
  readonly nowMs: number;
  /** Size of the sealed copy, bytes; 0 without one. */
  readonly bytes: number;
  /** The beginning of the copy, not authenticated; empty for a value of another type. */
  readonly header: Buffer;
  /** Time that the caller can still wait for the store, ms. */
  readonly leftMs: number;
}

/** Keeps the one sealed copy of a group. It logs when it becomes unusable. */
export interface Store {
  readonly kind: 'redis' | 'file';
  /** Minimum time between two writes, ms. */
  readonly writeEveryMs: number;
  /** Why it is unusable; null if it is usable. */
  readonly failing: string | null;
  inspect(group: Group): Promise<CopyState>;
  load(group: Group, state: CopyState): Promise<Buffer>;
  write(group: Group, sealed: Buffer, asOfMs: number): Promise<void>;
  drop(group: Group): Promise<void>;
}

export interface StoredSourceParts {
  readonly group: () => Promise<Group>;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Stores the snapshots of another source as one sealed copy, and serves that copy (docs/fleet.md). */
export class StoredSource extends SnapshotSource {
  #pending: Snapshot | null = null;
  #timer: NodeJS.Timeout | undefined;
  #writtenAt = -Infinity;
  #work: Promise<void> = Promise.resolve();
  /** Logged last; cleared when a copy is taken. */
  #reported: CopyRejected['reason'] | null = null;
  /** When the bank withdrew the grant: no earlier copy is taken. */
  #withdrawnAt: Instant | null = null;
  #lastTakenAt: string | null = null;
  #lastStoredAt: string | null = null;

  constructor(
    private readonly source: SnapshotSource,
    private readonly store: Store,
    protected readonly parts: StoredSourceParts,
  ) {
    super();
  }

  override read(request: RefreshRequest): Promise<Snapshot> {
    return this.readAndStore(request, (snapshot) => snapshot);
  }

  override async take(accepts: Accepts): Promise<Snapshot | null> {
    const { group, settings, clock } = this.parts;
    const acceptsInTime: Accepts = (copy) => {
      if (copy.leadMs > settings.SNAPSHOT_MAX_AGE_MS) throw new CopyRejected('too-old');
      return accepts(copy);
    };
    try {
      const ours = await group();
      const began = clock.now();
      return await this.takeFrom(ours, await this.store.inspect(ours), began, acceptsInTime);
    } catch (error) {
      this.#report(error);
      return null;
    }
  }

  override status(): SharingStatus {
    const { kind, failing } = this.store;
    if (kind === 'file') return { redis: null, file: { failing } };
    const state = failing === null ? 'fleet' : 'unavailable';
    const times = { lastStoredAt: this.#lastStoredAt, lastTakenAt: this.#lastTakenAt };
    return { redis: { state, ...times, reason: failing }, file: null };
  }

  override async close(): Promise<void> {
    this.#writePending();
    await this.#work;
    await this.source.close();
  }

  /** Reads the source. @param toDated returns the snapshot to store and serve; null if it is not stored */
  protected async readAndStore(
    request: RefreshRequest,
    toDated: ((snapshot: Snapshot) => Snapshot) | null,
  ): Promise<Snapshot> {
    try {
      const read = await this.source.read(request);
      this.#withdrawnAt = null;
      if (!toDated) return read;
      const snapshot = toDated(read);
      this.#writeSoon(snapshot);
      return snapshot;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'access-not-granted') this.#drop();
      throw error;
    }
  }

  /** A failure is only logged. */
  protected inBackground(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => this.#report(error));
  }

  /**
   * The checked copy; null without one, or if it is not accepted. @throws an error of the store
   * @param began when the refresh or the search for a copy began
   */
  protected async takeFrom(group: Group, state: CopyState, began: Instant, accepts: Accepts): Promise<Snapshot | null> {
    if (state.bytes === 0) return null;
    const { kind } = this.store;
    try {
      if (state.bytes > MAX_STORED_BYTES + OVERHEAD_BYTES) throw new CopyRejected('too-large');
      if (!this.#isAccepted(readHeader(state.header, group), state, began, accepts)) return null;
      const opened = await open(await this.store.load(group, state), group);
      // the checked header was not authenticated, and the copy may have been replaced since
      if (!this.#isAccepted(opened.facts, state, began, accepts)) return null;
      const source = kind === 'redis' ? 'shared' : 'file';
      const snapshot = await toSnapshot(opened, toInstant(opened.facts, state), source);
      this.#reported = null;
      this.#lastTakenAt = this.#now();
      return snapshot;
    } catch (error) {
      if (!(error instanceof CopyRejected)) throw error;
      this.#report(error);
      return null;
    }
  }

  #isAccepted(facts: Opened['facts'], state: CopyState, began: Instant, accepts: Accepts): boolean {
    if (facts.asOfMs > state.nowMs + CLOCK_MAY_DIFFER_MS) throw new CopyRejected('too-old');
    const { clock } = this.parts;
    const askedAt = toInstant(facts, state);
    if (this.#withdrawnAt && askedAt.monotonic <= this.#withdrawnAt.monotonic) return false;
    return accepts({ leadMs: clock.since(askedAt) - clock.since(began), durationMs: facts.durationMs });
  }

  /** Writes the snapshot in the background, as often as the store allows. */
  #writeSoon(snapshot: Snapshot): void {
    this.#pending = snapshot;
    const inMs = this.#writtenAt + this.store.writeEveryMs - performance.now();
    if (inMs <= 0) this.#writePending();
    else this.#timer ??= setTimeout(() => this.#writePending(), inMs).unref();
  }

  #writePending(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const snapshot = this.#pending;
    this.#pending = null;
    if (!snapshot) return;
    this.#writtenAt = performance.now();
    this.inBackground(() => this.#write(snapshot));
  }

  async #write({ list, asOf, durationMs, complete }: Snapshot): Promise<void> {
    const json = await list.toJson(MAX_STORED_BYTES);
    if (!json) throw new CopyRejected('too-large');
    const facts = { asOfMs: Date.parse(asOf), durationMs, complete };
    const group = await this.parts.group();
    await this.store.write(group, await seal({ json, facts }, group), facts.asOfMs);
    this.#lastStoredAt = this.#now();
  }

  /** Deletes the copy: the bank has withdrawn the grant. */
  #drop(): void {
    this.#withdrawnAt = this.parts.clock.now();
    this.#pending = null;
    this.inBackground(async () => this.store.drop(await this.parts.group()));
  }

  /** Logs once why a copy is ignored or not stored. The store logs its own failures. */
  #report(error: unknown): void {
    if (!(error instanceof CopyRejected) || error.reason === this.#reported) return;
    this.#reported = error.reason;
    const { kind: what } = this.store;
    const { reason } = error;
    const name = what === 'redis' ? 'Redis' : 'SNAPSHOT_FILE';
    const message =
      reason === 'too-large'
        ? `a copy larger than ${MAX_STORED_BYTES / 1_048_576} MB is neither stored in ${name} nor taken from it`
        : `the copy in ${name} is ignored (${reason})`;
    this.parts.logger.warn({ event: 'sharing.refused', what, reason }, message);
  }

  #now(): string {
    return new Date(this.parts.clock.now().wall).toISOString();
  }
}

const toInstant = ({ asOfMs }: Opened['facts'], { at, nowMs }: CopyState): Instant => later(at, asOfMs - nowMs);

/** @throws CopyRejected */
async function toSnapshot({ json, facts }: Opened, askedAt: Instant, source: Snapshot['source']): Promise<Snapshot> {
  const { asOfMs, durationMs, complete } = facts;
  await ListThread.makeRoom();
  const list = new ListThread();
  try {
    const size = await list.restore(json);
    return { list, size, askedAt, asOf: new Date(asOfMs).toISOString(), durationMs, complete, pages: 0, source };
  } catch (error) {
    await list.end();
    throw new CopyRejected('damaged', { cause: error });
  }
}
