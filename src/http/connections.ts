import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { HttpSettings } from '../config/settings.js';
import { createClientList } from './client-list.js';
import { Connection } from './connection.js';
import type { Lifecycle } from './lifecycle.js';
import type { RequestState } from './request-state.js';

/** Beyond MAX_CONNECTIONS these many more are let in, so that probes get through and others are told why not. */
const RESERVE = 100;
const CHECK_MS = 1000;
const DRAIN_CHECK_MS = 50;

/** The connections of callers: how many, how slow, and how they end when the process stops. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<Socket, Connection>();
  readonly #max: number;
  readonly #isAllowedClient: (address: string) => boolean;
  readonly #onLeft: (state: RequestState) => void;

  /** @param onLeft is told of each request whose caller left before his answer was out */
  constructor(settings: HttpSettings, onLeft: (state: RequestState) => void) {
    this.#max = settings.maxConnections;
    this.#isAllowedClient = createClientList(settings.allowedClients);
    this.#onLeft = onLeft;
  }

  /** The connection of a request; undefined when TLS was never agreed on. */
  of(socket: Socket): Connection | undefined {
    return this.#connections.get(socket);
  }

  watch(server: Server, lifecycle: Lifecycle): void {
    server.maxConnections = this.#max + RESERVE;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => this.#admit(socket));

    const checks = setInterval(() => {
      const now = performance.now();
      for (const connection of this.#connections.values()) connection.check(now);
    }, CHECK_MS).unref();
    server.once('close', () => clearInterval(checks));
    lifecycle.onDrain(() => this.#drain(server));
    lifecycle.onEnd(() => {
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  #admit(socket: Socket): void {
    const allowed = this.#isAllowedClient(socket.remoteAddress ?? '');
    const connection = new Connection(socket, allowed, this.#sockets.size > this.#max);
    this.#connections.set(socket, connection);
    // Node takes its own listener away with CONNECT; without any, a reset would end the process
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#connections.delete(socket);
      for (const state of connection.open) this.#onLeft(state);
      connection.open.clear();
    });
  }

  /** Closes what is idle, now and as it becomes so; calls in flight go on. */
  #drain(server: Server): void {
    const closeIdle = () => {
      server.closeIdleConnections();
      // Node does not count those as idle that have never sent anything, such as a browser opens ahead of need
      for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    closeIdle();
    const timer = setInterval(closeIdle, DRAIN_CHECK_MS);
    server.once('close', () => clearInterval(timer));
    // by then nobody waits for it any more
    timer.unref();
  }
}
