import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { within } from '../time/deadline.js';
import type { HttpLimits } from './http-limits.js';

/** A connection that speaks HTTP. Idle, it holds nothing of what its caller once asked for. */
interface Connection {
  /** Responses that are not sent in full, in the order of their requests. */
  readonly unanswered: ServerResponse[];
  /** The last request, while its body has not arrived in full. */
  unread: IncomingMessage | null;
  /** What is sent after the responses, before the connection is closed; null while it stays open. */
  lastBytes: Buffer | null;
  /** Called once for each response, when it is sent or will never be. */
  readonly onResponseClosed: () => void;
}

const NOTHING = Buffer.alloc(0);

/** Resolves once the event loop has looked at every socket: it accepts one connection, and reads what has arrived on the others. */
async function oneLook(): Promise<void> {
  // the first may run before the look of this round is over
  await nextImmediate();
  await nextImmediate();
}

/** The connections of callers: how many requests each may have open (docs/api.md#limits), and how they end. */
export class Connections {
  readonly #logger: Logger;
  readonly #limits: HttpLimits;
  /** Every accepted socket; with TLS, the ones below the connections. */
  readonly #accepted = new Set<Socket>();
  #acceptedEver = 0;
  readonly #open = new Map<Socket, Connection>();
  /** What is to be answered once the listener is closed; null but for that moment. */
  #held: (() => void)[] | null = null;

  constructor(logger: Logger, limits: HttpLimits) {
    this.#logger = logger;
    this.#limits = limits;
  }

  /** Follows the connections of a server, before it listens. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      this.#acceptedEver += 1;
      socket.once('close', () => this.#accepted.delete(socket));
    });
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => this.#track(socket));
  }

  /** Returns the responses that a connection waits for, in order. */
  unansweredOf(socket: Socket): readonly ServerResponse[] {
    return this.#open.get(socket)?.unanswered ?? [];
  }

  /** Returns the open connections, each with the responses that it waits for. */
  *all(): Generator<readonly [Socket, readonly ServerResponse[]]> {
    for (const [socket, { unanswered }] of this.#open) yield [socket, unanswered];
  }

  /** Calls `answer` if a request may be answered; closes a connection with too many. */
  enter(request: IncomingMessage, response: ServerResponse, answer: () => void): void {
    const { socket, headers } = request;
    const connection = this.#open.get(socket);
    if (!connection || connection.lastBytes !== null || socket.destroyed) return;
    const { unanswered, onResponseClosed } = connection;
    if (unanswered.length >= this.#limits.unanswered) {
      this.close(socket, `it has more than ${this.#limits.unanswered} unanswered requests`);
      return;
    }
    unanswered.push(response);
    response.on('close', onResponseClosed);
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
      connection.unread = request;
      request.once('close', () => forget(connection, request));
    }
    if (this.#held === null) answer();
    else this.#held.push(answer);
  }

  /** Returns true while the body of the last request has not arrived in full. */
  awaitsBody(socket: Socket): boolean {
    return this.#open.get(socket)?.unread?.complete === false;
  }

  /** Gives up a request whose body never arrived in full; returns false if there is none that is unanswered. */
  abandonUnread(socket: Socket): boolean {
    if (!this.awaitsBody(socket)) return false;
    // nothing is read after it, so it is the last one
    return this.#open.get(socket)?.unanswered.pop() !== undefined;
  }

  /** Returns true once `closeAfterResponses` was called for it. */
  isClosing(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    return connection !== undefined && connection.lastBytes !== null;
  }

  /** Stops reading requests from a connection. Once the current ones are answered, sends these bytes and closes it. */
  closeAfterResponses(socket: Socket, lastBytes: Buffer = NOTHING): void {
    const connection = this.#open.get(socket);
    if (!connection || connection.lastBytes !== null) return;
    connection.lastBytes = lastBytes;
    this.#endIfAnswered(socket, connection);
  }

  /** Closes a connection at once, whatever it waits for, and logs why. */
  close(socket: Socket, reason: string): void {
    this.#logger.info({ event: 'connection.closed', client: socket.remoteAddress }, `closing a connection: ${reason}`);
    socket.destroy();
  }

  /**
   * Takes no new connections. For `lastRequestMs` still answers what arrives on the open ones, whose callers may be sending in this
   * moment; then closes each as it becomes idle. What is left after `graceMs` is cut off.
   */
  async drain(server: Server, graceMs: number): Promise<void> {
    await this.#acceptAll();
    // close() of an HTTP server also cuts off the responses that are complete but not sent in full
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    this.#answerHeld();
    const lastRequestMs = Math.min(this.#limits.lastRequestMs, graceMs);
    await within(closed, lastRequestMs);
    await oneLook();
    // browsers open some in advance
    for (const socket of this.#accepted) if (socket.bytesRead === 0) socket.destroy();
    for (const socket of this.#open.keys()) this.closeAfterResponses(socket);
    await within(closed, graceMs - lastRequestMs);
    for (const socket of [...this.#open.keys(), ...this.#accepted]) socket.destroy();
  }

  /**
   * Accepts the connections that callers have made so far, because the system resets those that wait when the listener is closed. Holds
   * the requests back meanwhile: an answered caller may come back on a new connection.
   */
  async #acceptAll(): Promise<void> {
    const endsAt = performance.now() + this.#limits.lastRequestMs;
    this.#held = [];
    let before: number;
    do {
      before = this.#acceptedEver;
      await oneLook();
    } while (this.#acceptedEver > before && performance.now() < endsAt);
  }

  #answerHeld(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const answer of held) answer();
  }

  #track(socket: Socket): void {
    const connection: Connection = {
      unanswered: [],
      unread: null,
      lastBytes: null,
      onResponseClosed: () => {
        // they end in order
        connection.unanswered.shift();
        this.#endIfAnswered(socket, connection);
      },
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#open.delete(socket));
    // Node takes its own listener away with CONNECT; without one, a reset would end the process
    socket.on('error', () => undefined);
  }

  #endIfAnswered(socket: Socket, { unanswered, lastBytes }: Connection): void {
    if (lastBytes === null || unanswered.length > 0 || socket.destroyed || socket.writableEnded) return;
    const timer = setTimeout(() => socket.destroy(), this.#limits.lingerMs);
    socket.once('close', () => clearTimeout(timer));
    socket.end(lastBytes);
  }
}

function forget(connection: Connection, request: IncomingMessage): void {
  if (connection.unread === request) connection.unread = null;
}
