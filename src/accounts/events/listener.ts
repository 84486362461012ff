import type { ServerResponse } from 'node:http';
import type { MessageEvent } from '@nestjs/common';
import type { Subscriber } from 'rxjs';
import type { RequestFields } from '../../logging/request-fields.js';
import type { Audience } from './audience.js';

/** What may wait for a listener who does not read it. */
export const MAX_WAITING_BYTES = 256 * 1024;
/** What an `EventSource` waits before it connects again. */
const RETRY_MS = 3000;
/** An id as we give it. */
const DIGEST = /^[\w-]{43}$/;
/** How long the last events may take to leave when the process stops. */
const LAST_WORDS_MS = 250;

/** One who listens: how far they have been told, and whether they take what is sent. */
export class Listener {
  readonly audience: Audience;
  /** The state they know: its number, or what they say it is; null for none. */
  knows: number | string | null;
  /** The last id they have. It stands with events that are not about data as well, or the framework makes up one. */
  #lastId: string;
  readonly #subscriber: Pick<Subscriber<MessageEvent>, 'next' | 'complete'>;
  readonly #response: ServerResponse;
  readonly #fields: Pick<RequestFields, 'events'>;
  /** As `#taken`, had all been taken that was sent. */
  #sent = 0;
  #first = true;

  constructor(parts: {
    readonly audience: Audience;
    readonly lastEventId: string | undefined;
    readonly subscriber: Pick<Subscriber<MessageEvent>, 'next' | 'complete'>;
    readonly response: ServerResponse;
    readonly fields: Pick<RequestFields, 'events'>;
  }) {
    this.audience = parts.audience;
    const { lastEventId = '' } = parts;
    this.knows = lastEventId === '' ? null : lastEventId;
    this.#lastId = DIGEST.test(lastEventId) ? lastEventId : '';
    this.#subscriber = parts.subscriber;
    this.#response = parts.response;
    this.#fields = parts.fields;
  }

  /** An event that a page gets to see. @param data JSON */
  tell(type: string, data: string, id = this.#lastId): void {
    this.#fields.events = (this.#fields.events ?? 0) + 1;
    this.#lastId = id;
    this.#send({ type, id, data });
  }

  /** An id alone, which a page does not see but an `EventSource` keeps. */
  note(id: string): void {
    this.#lastId = id;
    this.#send(this.#first ? { id, comment: '' } : { id });
  }

  /** A comment: proxies on the way see that the connection is alive. */
  keepAlive(): void {
    this.#send({ comment: '' });
  }

  /** The last event, and the end; a listener that does not take them is cut off. */
  end(): void {
    this.tell('stopping', '{}');
    this.#subscriber.complete();
    const response = this.#response;
    const timer = setTimeout(() => response.destroy(), LAST_WORDS_MS);
    response.once('close', () => clearTimeout(timer));
  }

  #send(event: MessageEvent): void {
    this.#subscriber.next(this.#first ? { ...event, retry: RETRY_MS } : event);
    this.#first = false;
    const taken = this.#taken;
    // the frames around events are not counted as sent, but as taken
    this.#sent = Math.max(this.#sent, taken) + sizeOf(event);
    if (this.#sent - taken > MAX_WAITING_BYTES) this.#response.destroy();
  }

  /** Bytes that have left this process on the connection. */
  get #taken(): number {
    const { socket } = this.#response;
    return socket ? socket.bytesWritten - socket.writableLength : Infinity;
  }
}

/** At least so many bytes go out for an event. */
function sizeOf({ type = '', id = '', data = '' }: MessageEvent): number {
  return type.length + id.length + Buffer.byteLength(String(data));
}
