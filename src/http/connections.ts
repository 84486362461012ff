import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyReply } from 'fastify';
import type { Settings } from '../config/settings.js';
import { within } from '../time/deadline.js';
import { Turns } from '../turns.js';
import { Admission } from './admission.js';
import { createClientList } from './client-list.js';
import { Connection } from './connection.js';
import { isProbe } from './guard.js';
import { toPath } from './problem-answer.js';

/** Requests that wait for others before them on their connection: of one connection, and of all. */
const MAX_PIPELINED = 1000;
const MAX_PIPELINED_OF_ALL = 2000;
/** Bytes of answers that are not taken, of all connections. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const CHECK_MS = 250;
const DRAIN_CHECK_MS = 50;

/** What is called for each request whose caller left before the answer was out. */
export interface OnLeft {
  begun(reply: FastifyReply): void;
  /** It still waited for others before it. */
  waiting(request: IncomingMessage): void;
}

/** The connections of callers: how many, how slow, and how they end when the process stops. */
export class Connections {
  /** In which all requests are begun. */
  readonly turns = new Turns();
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #admission: Admission;
  readonly #isAllowedClient: (address: string) => boolean;
  readonly #onLeft: OnLeft;
  #pipelined = 0;
  #draining = false;

  constructor(settings: Pick<Settings, 'MAX_CONNECTIONS' | 'ALLOWED_CLIENTS'>, onLeft: OnLeft) {
    this.#admission = new Admission(settings.MAX_CONNECTIONS);
    this.#isAllowedClient = createClientList(settings.ALLOWED_CLIENTS);
    this.#onLeft = onLeft;
  }

  /** Connections end after their present answer. */
  get draining(): boolean {
    return this.#draining;
  }

  /** The connection of a request; one that did not come through the server (Fastify's `inject`) is taken in now. */
  of(socket: Socket): Connection {
    return this.#connections.get(socket) ?? this.#admit(socket);
  }

  /** Whether a socket has come so far that requests are read from it, which is after the TLS handshake. */
  has(socket: Socket): boolean {
    return this.#connections.has(socket);
  }

  /** Fastify's reply for an open response of Node's. */
  replyOf(response: ServerResponse): FastifyReply | undefined {
    for (const reply of this.of(response.req.socket).open) if (reply.raw === response) return reply;
    return undefined;
  }

  /**
   * Makes of a listener one that is handed the requests of a connection one after the other, each when the answer before
   * it is out; so an unread connection holds one answer. Where too many wait, no more are read from the connection. When
   * much comes at once on all connections, it is begun in turns; a probe that is alone on its connection goes first.
   */
  inTurn(listener: RequestListener): RequestListener {
    return (request, response) => {
      const connection = this.of(request.socket);
      if (connection.broken) return;
      if (connection.beyondCap) this.#admission.asked(request.socket);
      const pipelined = connection.busy;
      if (pipelined) {
        if (connection.waiting >= MAX_PIPELINED || this.#pipelined >= MAX_PIPELINED_OF_ALL) {
          connection.stopReading();
          return;
        }
        this.#pipelined += 1;
      }
      const begin = () => {
        if (pipelined) this.#pipelined -= 1;
        listener(request, response);
      };
      connection.enter({ request, response, pipelined, begin }, isProbe(toPath(request.url ?? '')));
    };
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.#admission.enter(socket, this.#isAllowedClient(socket.remoteAddress ?? ''));
      if (socket.destroyed) return;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#admit(socket);
    });
    server.once('listening', () => {
      const checks = setInterval(() => this.#check(performance.now()), CHECK_MS).unref();
      server.once('close', () => clearInterval(checks));
    });
  }

  /**
   * Takes no new connections and closes the idle ones, now and as they become so; calls in flight go on for `graceMs`,
   * then what is left is cut off.
   */
  async drain(server: Server, graceMs: number): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    this.#draining = true;
    const closeIdle = () => {
      server.closeIdleConnections();
      // Node does not count those as idle that have never sent anything, such as a browser opens ahead of need
      for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    closeIdle();
    const timer = setInterval(closeIdle, DRAIN_CHECK_MS);
    await within(closed, graceMs);
    clearInterval(timer);
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends who does not take their answers; where much is unread in all, those who have taken nothing lately, largest first. */
  #check(now: number): void {
    let unread = 0;
    for (const connection of this.#connections.values()) {
      connection.check(now);
      unread += connection.unread;
    }
    if (unread <= MAX_UNREAD_BYTES) return;
    const stalled = [...this.#connections.values()].filter((connection) => connection.isStalled);
    for (const connection of stalled.sort((one, other) => other.unread - one.unread)) {
      if (unread <= MAX_UNREAD_BYTES) return;
      unread -= connection.unread;
      connection.socket.destroy();
    }
  }

  #admit(socket: Socket): Connection {
    const allowed = this.#isAllowedClient(socket.remoteAddress ?? '');
    const connection = new Connection(socket, allowed, this.#admission.isBeyond(socket), this.turns);
    if (socket.destroyed) return connection;
    this.#connections.set(socket, connection);
    // Node takes its own listener away with CONNECT; without any, a reset would end the process
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#connections.delete(socket);
      for (const reply of connection.open) this.#onLeft.begun(reply);
      connection.open.clear();
      this.#giveUpWaiting(connection);
    });
    return connection;
  }

  #giveUpWaiting(connection: Connection): void {
    for (const { request, pipelined } of connection.drop()) {
      if (pipelined) this.#pipelined -= 1;
      this.#onLeft.waiting(request);
    }
  }
}
