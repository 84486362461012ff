import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../errors/gateway-error.js';
import { orAborted, TIMED_OUT, within } from '../time/deadline.js';

const MAX_RUNNING = 8;
const MAX_DURATION_MS = 120_000;
const RETRY_AFTER_MS = 5000;

@Injectable()
export class Downloads {
  #running = 0;
  /** Resolved when the next download has ended. */
  #ended = Promise.withResolvers<void>();

  /**
   * Waits for a slot and occupies it until the stream is closed. If `caller` aborts, the stream is destroyed.
   * @param begin starts the download, which ends when its signal aborts; not called after the caller has left
   * @param waitMs for a slot and for the first piece
   * @throws GatewayError overloaded after `waitMs`; what the first piece throws; the reason of `caller`
   */
  async open(
    begin: (signal: AbortSignal) => AsyncIterator<Uint8Array>,
    caller: AbortSignal,
    waitMs: number,
  ): Promise<Readable> {
    const deadline = performance.now() + waitMs;
    await this.#takeSlot(caller, deadline);
    const end = new AbortController();
    const pieces = begin(AbortSignal.any([caller, end.signal]));
    const stream = Readable.from({ [Symbol.asyncIterator]: () => pieces }, { objectMode: false });
    endInTime(stream, caller, () => {
      end.abort();
      this.#releaseSlot();
    });
    try {
      // a list that has just ended fails here, before the header is sent
      const first = await within(orAborted(once(stream, 'readable'), caller), deadline - performance.now());
      if (first !== TIMED_OUT) return stream;
      throw overloaded(`The download was not ready within ${waitMs} ms.`);
    } catch (error) {
      // the stream closes only once the piece under way has ended
      end.abort();
      stream.destroy();
      throw error;
    }
  }

  /** Wakes waiting callers in order of arrival. @throws GatewayError overloaded; the reason of `caller` */
  async #takeSlot(caller: AbortSignal, deadline: number): Promise<void> {
    caller.throwIfAborted();
    while (this.#running >= MAX_RUNNING) {
      const ended = await within(orAborted(this.#ended.promise, caller), Math.ceil(deadline - performance.now()));
      if (ended === TIMED_OUT) throw overloaded(`${MAX_RUNNING} downloads are already running.`);
    }
    this.#running += 1;
  }

  #releaseSlot(): void {
    this.#running -= 1;
    this.#ended.resolve();
    this.#ended = Promise.withResolvers();
  }
}

/** Destroys a stream when its caller leaves, or after 120 s. Keeps no reference to a closed stream. */
function endInTime(stream: Readable, caller: AbortSignal, onClose: () => void): void {
  const onLeft = () => stream.destroy();
  const cutOff = setTimeout(() => stream.destroy(new Error('the download took too long')), MAX_DURATION_MS);
  caller.addEventListener('abort', onLeft, { once: true });
  stream.once('close', () => {
    clearTimeout(cutOff);
    caller.removeEventListener('abort', onLeft);
    onClose();
  });
  if (caller.aborted) onLeft();
}

const overloaded = (detail: string) => new GatewayError('overloaded', detail, { retryAfterMs: RETRY_AFTER_MS });
