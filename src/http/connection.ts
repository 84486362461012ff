import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Turns } from '../turns.js';

/** The slowest reader that is put up with: 64 KB a second over all that they have yet to take, after a grace. */
const READER_GRACE_MS = 10_000;
const READER_BYTES_PER_MS = 64;
/** A caller that has much to take must show that it takes it: progress is seen by answers, and most are smaller than this. */
const MAX_STEP_BYTES = 320_000;
/** A caller that is seen to take nothing so often in a row is ended, when much is unread on all connections. */
const STALLED_LOOKS = 4;
/** How long a caller may go on sending what was refused, so that they get to read the answer (RFC 9112 §9.6). */
const LINGER_MS = 1000;
/** What Node's parser is told when no HTTP follows. */
const UPGRADE = 2;

/** A request that was not begun yet. */
export interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** It came while one before it on its connection was not answered yet (RFC 9112 §9.3.2). */
  readonly pipelined: boolean;
  readonly begin: () => void;
}

/** What waits for a caller, from the first look at which it did: how they take it. Times are monotonic, in ms. */
interface Backlog {
  readonly since: number;
  /** Bytes taken by then. */
  readonly from: number;
  taken: number;
  takenAt: number;
  /** Looks in a row at which nothing more was taken. */
  looksInVain: number;
}

/**
 * One connection of a caller: what is open on it, and whether they take what they asked for. Its requests are begun one
 * after the other, each when the answer before it is out and its turn among all connections has come.
 */
export class Connection {
  /** The requests that were begun and whose answers are not out yet. */
  readonly open = new Set<FastifyReply>();
  readonly client: string;
  readonly #arrived: Arrived[] = [];
  readonly #turns: Turns;
  #current: ServerResponse | null = null;
  #lastRequest: IncomingMessage | null = null;
  #lastAnswer: Buffer | null = null;
  #backlog: Backlog | null = null;
  #answeredSince: number | null = null;

  constructor(
    readonly socket: Socket,
    /** The address may call (ALLOWED_CLIENTS). */
    readonly allowed: boolean,
    /** One of those beyond MAX_CONNECTIONS: for probes only. */
    readonly beyondCap: boolean,
    turns: Turns,
  ) {
    this.#turns = turns;
    this.client = socket.remoteAddress ?? '';
  }

  /** Requests that were not begun yet. */
  get waiting(): number {
    return this.#arrived.length;
  }

  /** Whether a request that comes now would have to wait for others on this connection. */
  get busy(): boolean {
    return this.#arrived.length > 0 || this.#isAnswering;
  }

  /** Begins a request when those before it are answered. @param urgent without waiting for other connections */
  enter(arrived: Arrived, urgent: boolean): void {
    this.#lastRequest = arrived.request;
    this.#arrived.push(arrived);
    if (this.#arrived.length > 1) return;
    if (this.#isAnswering) this.#current?.once('close', this.#next);
    else if (urgent) this.#begin();
    else this.#next();
  }

  /** Takes out the requests that were never begun. */
  drop(): Arrived[] {
    return this.#arrived.splice(0);
  }

  began(reply: FastifyReply): void {
    this.open.add(reply);
  }

  /** False when it was not open any more. */
  ended(reply: FastifyReply): boolean {
    const wasOpen = this.open.delete(reply);
    if (this.#isDone && this.#lastAnswer) this.#finish(this.#lastAnswer);
    return wasOpen;
  }

  /** Nothing more is read as a request here. */
  get broken(): boolean {
    return this.#lastAnswer !== null;
  }

  /** The last request has been answered, though its body has not come. */
  get answeredEarly(): boolean {
    return this.#lastRequest !== null && !this.#lastRequest.complete;
  }

  /** Writes a last answer when those before it are out, and closes; an empty one just closes. */
  close(lastAnswer: Buffer): void {
    if (this.broken) return;
    this.#lastAnswer = lastAnswer;
    if (this.#isDone) this.#finish(lastAnswer);
  }

  /** Reads no more requests, and closes when those that came are answered. */
  stopReading(): void {
    // Node goes on through the rest of what it has read, up to 3600 requests: pausing the socket does not stop its parser,
    // but an upgrade does, and what follows is no HTTP to it
    const { parser } = this.socket as { parser?: { onIncoming?: (request: IncomingMessage) => number } | null };
    if (parser) {
      parser.onIncoming = (request) => {
        Object.assign(request, { upgrade: false });
        return UPGRADE;
      };
    }
    this.close(Buffer.alloc(0));
  }

  /** Bytes of answers that the caller has yet to take, beyond what the system holds for them. */
  get unread(): number {
    return this.socket.writableLength;
  }

  /** Nothing was taken of what is unread at the last few looks. Counted in looks: a process that was held up looks less often. */
  get isStalled(): boolean {
    return this.#backlog !== null && this.#backlog.looksInVain >= STALLED_LOOKS;
  }

  /** Looks whether the caller takes the answers, and ends the connection of one who does not. `now` is monotonic. */
  check(now: number): void {
    const { socket } = this;
    const waiting = socket.writableLength;
    const taken = socket.bytesWritten - waiting;
    const backlog = this.#backlog;
    if (waiting === 0) this.#backlog = null;
    else if (!backlog) this.#backlog = { since: now, from: taken, taken, takenAt: now, looksInVain: 0 };
    else {
      if (taken > backlog.taken) Object.assign(backlog, { taken, takenAt: now, looksInVain: 0 });
      else backlog.looksInVain += 1;
      const due = (socket.bytesWritten - backlog.from) / READER_BYTES_PER_MS;
      const dueNext = Math.min(waiting, MAX_STEP_BYTES) / READER_BYTES_PER_MS;
      const slow = now - backlog.since > READER_GRACE_MS + due;
      const stalled = now - backlog.takenAt > READER_GRACE_MS + dueNext;
      if (slow || stalled) socket.destroy();
    }

    if (!this.#isDone || !this.answeredEarly) this.#answeredSince = null;
    else if (this.#answeredSince === null) this.#answeredSince = now;
    else if (now - this.#answeredSince >= LINGER_MS) socket.destroy();
  }

  get #isDone(): boolean {
    return this.open.size === 0 && this.#arrived.length === 0;
  }

  get #isAnswering(): boolean {
    return this.#current !== null && !this.#current.closed;
  }

  readonly #next = (): void => this.#turns.begin(this.#begin, this.client);

  readonly #begin = (): void => {
    const next = this.#arrived.shift();
    if (!next) return;
    this.#current = next.response;
    if (this.#arrived.length > 0) next.response.once('close', this.#next);
    next.begin();
  };

  #finish(lastAnswer: Buffer): void {
    const { socket } = this;
    // an answer before it may have been the last one already, by its own `Connection: close`
    if (socket.destroyed || socket.writableEnded) return;
    // destroyed at once, a caller who is still sending would get a reset instead of the answer
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.end(lastAnswer);
  }
}
