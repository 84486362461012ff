import { Injectable, type MessageEvent } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EMPTY, Observable } from 'rxjs';
import { Settings } from '../../config/settings.js';
import '../../logging/request-fields.js';
import { Log } from '../../logging/logging.js';
import { GatewayError } from '../../problems/gateway-error.js';
import type { Filters } from '../../snapshot/select.js';
import type { Snapshot } from '../../snapshot/snapshot.js';
import { SnapshotCache, type ServingState } from '../../snapshot/snapshot-cache.js';
import { Audience } from './audience.js';
import { Breather } from './breather.js';
import { Listener } from './listener.js';
import { Poll } from './poll.js';
import { StateHistory } from './state-history.js';

const KEEP_ALIVE_MS = 15_000;
/** When it makes sense to try again where all places are taken. */
const FULL_RETRY_MS = 5000;

/** What one who wants to listen asks. */
interface Wanted {
  readonly filters: Filters;
  /** `Last-Event-ID`, whatever it holds. */
  readonly lastEventId: string | undefined;
  readonly reply: FastifyReply;
  /** Aborted when the stream is over, however it ended. */
  readonly signal: AbortSignal;
}

/**
 * The change feed (docs/api.md#the-change-feed): tells all listeners what each reading has changed for their filters. While
 * there are listeners, one poll of the bank serves them all; it does not matter where a snapshot came from.
 */
@Injectable()
export class ChangeFeed {
  readonly #snapshots: SnapshotCache;
  readonly #log: Log;
  readonly #maxStreams: number;
  readonly #history = new StateHistory();
  readonly #audiences = new Map<string, Audience>();
  readonly #listeners = new Set<Listener>();
  readonly #poll: Poll;
  #streams = 0;
  #next: Snapshot | null = null;
  #busy = false;
  #told = '';
  #stopped = false;
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(snapshots: SnapshotCache, { http, snapshot }: Settings, log: Log) {
    this.#snapshots = snapshots;
    this.#log = log;
    this.#maxStreams = http.maxEventStreams;
    this.#poll = new Poll(snapshots, snapshot.freshMs, () => this.#tellState());
    snapshots.listen({
      onSnapshot: (newer) => this.#take(newer),
      onFailure: (error) => {
        this.#poll.failed(error);
        this.#tellState();
      },
      onDropped: () => this.#forget(),
    });
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#streams;
  }

  /**
   * The events for one listener.
   * @throws GatewayError overloaded, stopping
   */
  open({ filters, lastEventId, reply, signal }: Wanted): Observable<MessageEvent> {
    if (this.#stopped) throw new GatewayError('stopping', 'This instance is stopping.');
    if (this.#streams >= this.#maxStreams) {
      throw new GatewayError('overloaded', `${this.#maxStreams} streams are open already (MAX_EVENT_STREAMS).`, {
        retryAfterMs: FULL_RETRY_MS,
      });
    }
    if (signal.aborted) return EMPTY;
    const key = JSON.stringify(filters);
    const audience = this.#audiences.get(key) ?? new Audience(filters);
    this.#audiences.set(key, audience);
    audience.size += 1;
    this.#streams += 1;
    let listener: Listener | null = null;
    // the one place that every end goes through, also of a stream that never began
    signal.addEventListener(
      'abort',
      () => {
        this.#streams -= 1;
        audience.size -= 1;
        if (audience.size === 0) this.#audiences.delete(key);
        if (listener) this.#leave(listener);
      },
      { once: true },
    );
    return new Observable<MessageEvent>((subscriber) => {
      reply.beginStream();
      const fields = reply.request.logFields;
      listener = new Listener({ audience, lastEventId, subscriber, response: reply.raw, fields });
      this.#join(listener);
    });
  }

  /** Ends all streams; no more are opened. */
  stop(): void {
    this.#stopped = true;
    for (const listener of this.#listeners) listener.end();
  }

  #join(listener: Listener): void {
    if (this.#stopped) {
      listener.end();
      return;
    }
    this.#listeners.add(listener);
    this.#keepAlive ??= setInterval(
      () => void this.#forEachListener((each) => each.keepAlive()),
      KEEP_ALIVE_MS,
    ).unref();
    const { state } = this.#snapshots;
    if (this.#listeners.size === 1) this.#told = JSON.stringify(state);
    const servable = this.#snapshots.status().servable && this.#history.snapshot !== null;
    if (servable) this.#deliver(listener);
    if (!servable || !isWell(state)) listener.tell('state', JSON.stringify(state));
    this.#poll.start();
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#poll.stop();
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
  }

  #take(snapshot: Snapshot): void {
    this.#poll.restart();
    // only the newest of those that came while another was looked at
    this.#next = snapshot;
    this.#tellState();
    if (!this.#busy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    try {
      for (let next = this.#next; next !== null; next = this.#next) {
        this.#next = null;
        await this.#history.advance(next);
        await this.#forEachListener((each) => this.#deliver(each));
      }
    } catch (error) {
      this.#log.logger.error({ event: 'internal-error', err: error }, 'a fault of this service, in the change feed');
      this.#forget();
    } finally {
      this.#busy = false;
    }
  }

  /** Does this for each listener; where they are many, others have their turn meanwhile. */
  async #forEachListener(work: (listener: Listener) => void): Promise<void> {
    const breather = new Breather();
    for (const listener of this.#listeners) {
      work(listener);
      if (breather.isDue(true)) await breather.breathe();
    }
  }

  /** Tells a listener what they do not know yet of the present state. */
  #deliver(listener: Listener): void {
    const { snapshot, present } = this.#history;
    if (snapshot === null) return;
    const { digest } = snapshot;
    if (typeof listener.knows === 'string') {
      const known = this.#history.numberOf(listener.knows);
      if (known === null) listener.tell('reset', '{}', digest);
      listener.knows = known;
    }
    const data = listener.audience.toData(this.#history, snapshot, listener.knows, this.#snapshots.state.stale);
    listener.knows = present;
    if (data === null) listener.note(digest);
    else listener.tell('snapshot', data, digest);
  }

  /** Nothing of what was told holds any more; what comes next is told as a whole. */
  #forget(): void {
    this.#next = null;
    this.#history.clear();
    for (const listener of this.#listeners) if (typeof listener.knows === 'number') listener.knows = UNKNOWN;
  }

  #tellState(): void {
    const { state } = this.#snapshots;
    const told = JSON.stringify(state);
    if (told === this.#told) return;
    this.#told = told;
    // the newest at each moment: it may have changed before all are told
    void this.#forEachListener((each) => each.tell('state', this.#told));
  }
}

/** A state that is not among the last. */
const UNKNOWN = '';

const isWell = ({ stale, code }: ServingState): boolean => !stale && code === null;
