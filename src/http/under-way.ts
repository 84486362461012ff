import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Settings } from '../config/settings.js';
import { within } from '../time/deadline.js';
import type { HttpLimits } from './http-limits.js';

type ShutdownSettings = Pick<Settings, 'SHUTDOWN_DELAY_MS' | 'SHUTDOWN_GRACE_MS'>;

/**
 * Counts the responses under way: of each connection, of all, and their bytes (docs/bounds.md#callers). So it is also the graceful
 * stop (docs/deploy.md#start-signals-and-stop): not ready at once, still serving for SHUTDOWN_DELAY_MS; then no new connections,
 * requests that are on their way or in flight answered, all connections closed; after SHUTDOWN_GRACE_MS in any case.
 */
export class UnderWay implements BeforeApplicationShutdown {
  readonly #ofSocket = new WeakMap<Socket, number>();
  /** The sockets below TLS. */
  readonly #accepted = new Set<Socket>();
  readonly #idle = Promise.withResolvers<void>();
  #server: Server | null = null;
  #count = 0;
  #bytes = 0;
  #isStopping = false;

  constructor(
    private readonly limits: HttpLimits,
    private readonly settings: ShutdownSettings,
  ) {}

  /** True after a signal to stop: no longer ready, though it may still serve. Responses ask their callers to close the connection. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Responses of a connection that are not sent in full. */
  of(socket: Socket): number {
    return this.#ofSocket.get(socket) ?? 0;
  }

  /** Counts a response. Returns false if its connection has too many. */
  begin(socket: Socket): boolean {
    const count = this.of(socket) + 1;
    this.#ofSocket.set(socket, count);
    this.#count += 1;
    return count <= this.limits.unanswered;
  }

  /** Counts the body of a response. Returns false, and counts nothing, if too many bytes are under way. */
  addBytes(bytes: number): boolean {
    if (this.#bytes + bytes > this.limits.bytesUnderWay) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Ends what `begin` and `addBytes` began. */
  end(socket: Socket, bytes: number): void {
    this.#ofSocket.set(socket, this.of(socket) - 1);
    this.#bytes -= bytes;
    this.#count -= 1;
    if (this.#isStopping && this.#count === 0) this.#idle.resolve();
  }

  /** Sets the server to stop. Of a TLS server, `closeAllConnections` leaves those open whose handshake is under way. */
  watch(server: Server): void {
    this.#server = server;
    if (!(server instanceof TlsServer)) return;
    server.on('connection', (socket: Socket) => {
      this.#accepted.add(socket);
      socket.once('close', () => this.#accepted.delete(socket));
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#isStopping = true;
    if (!this.#server?.listening) return;
    const { SHUTDOWN_DELAY_MS, SHUTDOWN_GRACE_MS } = this.settings;
    if (SHUTDOWN_DELAY_MS > 0) await delay(SHUTDOWN_DELAY_MS);
    await this.#drain(this.#server, SHUTDOWN_GRACE_MS);
  }

  /**
   * Takes no new connections. For `lastRequestMs` still answers what arrives on the open ones, whose callers may be sending in this
   * moment, and then until no response is under way. After `graceMs` closes all connections.
   */
  async #drain(server: Server, graceMs: number): Promise<void> {
    // close() of an HTTP server also cuts off the responses that are complete but not sent in full
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    const lastRequestMs = Math.min(this.limits.lastRequestMs, graceMs);
    await within(closed, lastRequestMs);
    if (this.#count > 0) await within(this.#idle.promise, graceMs - lastRequestMs);
    server.closeAllConnections();
    for (const socket of this.#accepted) socket.destroy();
  }
}
