import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { Logger } from 'pino';
import { within } from '../time/deadline.js';
import type { HttpLimits } from './http-limits.js';

/** A response with its request, as Fastify's reply is one. */
export interface Exchange {
  readonly raw: ServerResponse<IncomingMessage>;
}

/** A connection that speaks HTTP. Idle, it holds nothing of what its caller once asked for. */
interface Connection<E> {
  /** Those whose responses are not sent in full, in the order of their requests. */
  readonly unanswered: E[];
  /** The last request, while its body has not arrived in full. */
  unread: IncomingMessage | null;
  /** What is sent after the responses, before the connection is closed; null while it stays open. */
  lastBytes: Buffer | null;
}

const NOTHING = Buffer.alloc(0);

/** The connections of callers: how many requests each may have open (docs/bounds.md#callers), and how they end. */
export class Connections<E extends Exchange> {
  readonly #logger: Logger;
  readonly #limits: HttpLimits;
  /** Every accepted socket; with TLS, the ones below the connections. */
  readonly #accepted = new Set<Socket>();
  readonly #open = new Map<Socket, Connection<E>>();

  constructor(logger: Logger, limits: HttpLimits) {
    this.#logger = logger;
    this.#limits = limits;
  }

  /**
   * Follows the connections of a server, before it listens.
   * @param onLeft called for each exchange that was not complete when its connection was closed
   */
  watch(server: Server, onLeft: (exchange: E) => void): void {
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
    });
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) =>
      this.#track(socket, onLeft),
    );
  }

  /** Returns the exchanges of a connection that are not complete, in order. */
  unansweredOf(socket: Socket): readonly E[] {
    return this.#open.get(socket)?.unanswered ?? [];
  }

  /** Returns the open connections, each with its exchanges that are not complete. */
  *all(): Generator<readonly [Socket, readonly E[]]> {
    for (const [socket, { unanswered }] of this.#open) yield [socket, unanswered];
  }

  /** Begins an exchange. Returns true if its request may be answered; closes a connection with too many. */
  enter(exchange: E): boolean {
    const { req: request } = exchange.raw;
    const { socket, headers } = request;
    const connection = this.#open.get(socket);
    if (socket.destroyed) return false;
    // one that a test injects has no connection
    if (!connection) return true;
    if (connection.lastBytes !== null) return false;
    const { unanswered } = connection;
    if (unanswered.length >= this.#limits.unanswered) {
      this.close(socket, `it has more than ${this.#limits.unanswered} unanswered requests`);
      return false;
    }
    unanswered.push(exchange);
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
      connection.unread = request;
      request.once('close', () => forget(connection, request));
    }
    return true;
  }

  /** Ends an exchange whose response was sent in full or failed. Returns false if it has ended before. */
  leave(exchange: E): boolean {
    const { socket } = exchange.raw.req;
    const connection = this.#open.get(socket);
    if (!connection) return !socket.destroyed;
    const place = connection.unanswered.indexOf(exchange);
    if (place < 0) return false;
    connection.unanswered.splice(place, 1);
    this.#endIfAnswered(socket, connection);
    return true;
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
    // close() of an HTTP server also cuts off the responses that are complete but not sent in full
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    const lastRequestMs = Math.min(this.#limits.lastRequestMs, graceMs);
    await within(closed, lastRequestMs);
    // browsers open some in advance
    for (const socket of this.#accepted) if (socket.bytesRead === 0) socket.destroy();
    for (const socket of this.#open.keys()) this.closeAfterResponses(socket);
    await within(closed, graceMs - lastRequestMs);
    for (const socket of [...this.#open.keys(), ...this.#accepted]) socket.destroy();
  }

  #track(socket: Socket, onLeft: (exchange: E) => void): void {
    const connection: Connection<E> = { unanswered: [], unread: null, lastBytes: null };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      for (const exchange of connection.unanswered) onLeft(exchange);
    });
    // Node takes its own listener away with CONNECT; without one, a reset would end the process
    socket.on('error', () => undefined);
  }

  #endIfAnswered(socket: Socket, { unanswered, lastBytes }: Connection<E>): void {
    if (lastBytes === null || unanswered.length > 0 || socket.destroyed || socket.writableEnded) return;
    const timer = setTimeout(() => socket.destroy(), this.#limits.lingerMs);
    socket.once('close', () => clearTimeout(timer));
    socket.end(lastBytes);
  }
}

function forget(connection: Connection<unknown>, request: IncomingMessage): void {
  if (connection.unread === request) connection.unread = null;
}
