import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../errors/gateway-error.js';
import type { Snapshot } from '../snapshot/snapshot.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';

const LIMITS = {
  downloads: 8,
  /** Snapshots that downloads keep alive at once: each has the memory of a whole list. */
  snapshots: 3,
  durationMs: 120_000,
};
const RETRY_AFTER_MS = 5000;

/** Long documents, sent in pieces: at most 8 at once, of at most 3 different snapshots, each for at most 120 s. */
@Injectable()
export class Downloads {
  /** Running downloads of each snapshot. */
  readonly #running = new Map<Snapshot, number>();
  /** Callers who wait, in order. Each is called when a download has ended, and returns true if it begins. */
  readonly #waiting = new Set<() => boolean>();

  /**
   * Waits for a slot, which is taken until the stream is closed. Aborting `signal`, as a caller who leaves does, destroys the
   * stream.
   * @param open begins the download, which ends when its signal aborts; not called for a caller who no longer waits
   * @param waitMs for a slot and for the first piece
   * @throws GatewayError overloaded after `waitMs`; what the first piece throws; the reason of `signal`
   */
  async open(
    snapshot: Snapshot,
    open: (signal: AbortSignal) => AsyncIterator<Uint8Array>,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<Readable> {
    const deadline = performance.now() + waitMs;
    await this.#takeSlot(snapshot, signal, waitMs);
    const end = new AbortController();
    try {
      const pieces = open(AbortSignal.any([signal, end.signal]));
      // a list that has ended meanwhile is known before the header is sent
      const first = await within(pieces.next(), deadline - performance.now());
      if (first === TIMED_OUT) throw overloaded(`The download was not ready within ${waitMs} ms.`);
      const stream = Readable.from(withFirst(first, pieces), { objectMode: false });
      void this.#watch(stream, pieces, snapshot, signal, end);
      return stream;
    } catch (error) {
      end.abort();
      this.#releaseSlot(snapshot);
      throw error;
    }
  }

  async #takeSlot(snapshot: Snapshot, signal: AbortSignal, waitMs: number): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slot = { isTaken: false };
    const begin = () => {
      if (!this.#hasSlot(snapshot)) return false;
      this.#running.set(snapshot, (this.#running.get(snapshot) ?? 0) + 1);
      slot.isTaken = true;
      resolve();
      return true;
    };
    if (begin()) return;
    this.#waiting.add(begin);
    try {
      await within(orAborted(promise, signal), waitMs);
    } catch (error) {
      // given in the same moment in which the caller left
      if (slot.isTaken) this.#releaseSlot(snapshot);
      throw error;
    } finally {
      this.#waiting.delete(begin);
    }
    if (slot.isTaken) return;
    const detail =
      this.#count < LIMITS.downloads
        ? `Downloads of ${LIMITS.snapshots} other snapshots are already running.`
        : `${LIMITS.downloads} downloads are already running.`;
    throw overloaded(detail);
  }

  get #count(): number {
    return [...this.#running.values()].reduce((sum, count) => sum + count, 0);
  }

  #hasSlot(snapshot: Snapshot): boolean {
    if (this.#count >= LIMITS.downloads) return false;
    return this.#running.has(snapshot) || this.#running.size < LIMITS.snapshots;
  }

  #releaseSlot(snapshot: Snapshot): void {
    const left = (this.#running.get(snapshot) ?? 1) - 1;
    if (left === 0) this.#running.delete(snapshot);
    else this.#running.set(snapshot, left);
    for (const begin of this.#waiting) {
      if (begin()) this.#waiting.delete(begin);
    }
  }

  /** Keeps the slot until the stream is closed. Nothing holds the stream after that. */
  async #watch(
    stream: Readable,
    pieces: AsyncIterator<Uint8Array>,
    snapshot: Snapshot,
    signal: AbortSignal,
    end: AbortController,
  ): Promise<void> {
    const onAbort = () => stream.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const cutOff = setTimeout(() => stream.destroy(new Error('the download took too long')), LIMITS.durationMs);
    await finished(stream).catch(() => undefined);
    end.abort();
    // a stream that was never read has not begun to iterate, and so does not end what it would have
    await pieces.return?.().catch(() => undefined);
    clearTimeout(cutOff);
    signal.removeEventListener('abort', onAbort);
    this.#releaseSlot(snapshot);
  }
}

const overloaded = (detail: string) => new GatewayError('overloaded', detail, { retryAfterMs: RETRY_AFTER_MS });

async function* withFirst(
  first: IteratorResult<Uint8Array>,
  others: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; !next.done; next = await others.next()) yield next.value;
  } finally {
    await others.return?.();
  }
}
