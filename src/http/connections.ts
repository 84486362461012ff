import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { Logger } from 'pino';
import { within } from '../time/deadline.js';

/** The limits of docs/api.md#limits. */
const LIMITS = {
  /** Requests of one connection. No browser, proxy, script or probe pipelines as many. */
  unanswered: 8,
  /** Interval of the checks for stalled clients. A client that reads no byte for 6 checks in a row, 30 s, is disconnected. */
  stallLookMs: 5000,
  stalledLooks: 6,
  /** Response bytes that wait for all clients together. */
  waitingBytes: 64 * 1024 * 1024,
  waitingLookMs: 250,
};
const DRAIN_LOOK_MS = 50;
/** The longest that a client may go on sending after the last response, so that it can read it (RFC 9112 §9.6). */
const LINGER_MS = 1000;

interface Connection {
  /**
   * In order. An array, because a Set that changes with every request leaves old hash tables behind, and the garbage collector
   * keeps everything in them.
   */
  readonly unanswered: ServerResponse[];
  lastRequest: IncomingMessage | null;
  /** True if no further request is read after the current ones. */
  closing: boolean;
  stalledLooks: number;
  stalledAt: number;
}

/** The rules for connections of callers (docs/api.md#limits), and their end when the process stops. */
export class Connections {
  readonly #logger: Logger;
  readonly #limits: typeof LIMITS;
  readonly #open = new Map<Socket, Connection>();
  /** Responses that were already waiting at the last check. */
  #waited = new Set<ServerResponse>();

  constructor(logger: Logger, limits = LIMITS) {
    this.#logger = logger;
    this.#limits = limits;
  }

  /** Applies the rules to a server, before it listens. */
  watch(server: Server, maxConnections: number): void {
    server.maxConnections = maxConnections;
    server.setTimeout(this.#limits.stallLookMs);
    server.on('timeout', (socket: Socket) => this.#onInactive(socket));
    const track = (socket: Socket) => {
      this.#open.set(socket, { unanswered: [], lastRequest: null, closing: false, stalledLooks: 0, stalledAt: 0 });
      socket.once('close', () => this.#open.delete(socket));
      // Node takes its own listener away with CONNECT; without one, a reset would end the process
      socket.on('error', () => undefined);
    };
    server.on('connection', track);
    if (server instanceof TlsServer) server.on('secureConnection', track);
    server.once('listening', () => {
      const looks = setInterval(() => this.#limitWaitingBytes(), this.#limits.waitingLookMs).unref();
      server.once('close', () => clearInterval(looks));
    });
  }

  /** True if a request may be answered; closes a connection with too many. */
  enter(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (!connection || connection.closing || socket.destroyed) return false;
    const { unanswered } = connection;
    if (unanswered.length >= this.#limits.unanswered) {
      this.#close(socket, `it has more than ${this.#limits.unanswered} unanswered requests`);
      return false;
    }
    connection.lastRequest = request;
    unanswered.push(response);
    response.once('close', () => remove(unanswered, response));
    return true;
  }

  /** True if the last request was answered before its whole body arrived. */
  isAnsweredEarly(socket: Socket): boolean {
    return this.#open.get(socket)?.lastRequest?.complete === false;
  }

  /** Stops waiting for a request whose body never arrived in full; returns false if there is none. */
  abandonUnfinished(socket: Socket): boolean {
    const unanswered = this.#open.get(socket)?.unanswered ?? [];
    const response = unanswered.at(-1);
    return response?.req.complete === false && remove(unanswered, response);
  }

  /** True once `closeAfterResponses` was called for it. */
  isClosing(socket: Socket): boolean {
    return this.#open.get(socket)?.closing === true;
  }

  /** Stops reading requests from a connection. Once the current ones are answered, sends these bytes and closes it. */
  closeAfterResponses(socket: Socket, lastBytes: Buffer): void {
    const connection = this.#open.get(socket);
    if (!connection || connection.closing) return;
    connection.closing = true;
    const end = () => {
      if (connection.unanswered.length > 0 || socket.destroyed || socket.writableEnded) return;
      const timer = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once('close', () => clearTimeout(timer));
      socket.end(lastBytes);
    };
    for (const response of connection.unanswered) response.once('close', end);
    end();
  }

  /**
   * Takes no new connections and closes the idle ones, now and as they become idle. Requests in flight have `graceMs`,
   * then what is left is closed.
   */
  async drain(server: Server, graceMs: number): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    const closeIdle = () => {
      server.closeIdleConnections();
      // Node counts connections that never sent a byte as active; browsers open such connections in advance
      for (const socket of this.#open.keys()) if (socket.bytesRead === 0) socket.destroy();
    };
    closeIdle();
    const looks = setInterval(closeIdle, DRAIN_LOOK_MS);
    await within(closed, graceMs);
    clearInterval(looks);
    server.closeAllConnections();
    for (const socket of this.#open.keys()) socket.destroy();
  }

  /** Node's `timeout`: nothing came and nothing was taken for `stallLookMs`, or an idle connection was kept long enough. */
  #onInactive(socket: Socket): void {
    const connection = this.#open.get(socket);
    // nothing was asked yet: headersTimeout has its own answer
    if (!connection?.lastRequest) return;
    if (connection.unanswered.length === 0) {
      socket.destroy();
      return;
    }
    const { stallLookMs, stalledLooks } = this.#limits;
    if (socket.writableLength > 0) {
      const now = performance.now();
      // Node is silent about looks at which something had been taken
      const inARow = now - connection.stalledAt < 1.5 * stallLookMs;
      connection.stalledLooks = inARow ? connection.stalledLooks + 1 : 1;
      connection.stalledAt = now;
      if (connection.stalledLooks >= stalledLooks) {
        this.#close(socket, 'the client reads no bytes of a response');
        return;
      }
    }
    socket.setTimeout(stallLookMs);
  }

  /** Closes the connections with the most response bytes while too many wait in total. What is on its way is not counted. */
  #limitWaitingBytes(): void {
    const waiting = new Set<ServerResponse>();
    const sizes: { readonly socket: Socket; readonly bytes: number }[] = [];
    let total = 0;
    for (const [socket, { unanswered }] of this.#open) {
      let bytes = 0;
      for (const response of unanswered) {
        if (response.writableLength === 0) continue;
        waiting.add(response);
        if (this.#waited.has(response)) bytes += response.writableLength;
      }
      if (bytes > 0) sizes.push({ socket, bytes });
      total += bytes;
    }
    this.#waited = waiting;
    if (total <= this.#limits.waitingBytes) return;
    for (const { socket, bytes } of sizes.sort((one, other) => other.bytes - one.bytes)) {
      if (total <= this.#limits.waitingBytes) return;
      total -= bytes;
      this.#close(socket, 'too many response bytes wait for clients, most of them on this connection');
    }
  }

  #close(socket: Socket, reason: string): void {
    this.#logger.info({ event: 'connection.closed', client: socket.remoteAddress }, `closing a connection: ${reason}`);
    socket.destroy();
  }
}

function remove(unanswered: ServerResponse[], response: ServerResponse): boolean {
  const index = unanswered.indexOf(response);
  if (index >= 0) unanswered.splice(index, 1);
  return index >= 0;
}
