import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Settings } from '../config/settings.js';
import { within } from '../time/deadline.js';
import type { HttpLimits } from './http-limits.js';

/**
 * Counts the responses under way, per connection and in total, and their bytes (docs/bounds.md#callers). Therefore it
 * also runs the graceful stop (docs/deploy.md#start-signals-and-stop).
 */
export class UnderWay implements BeforeApplicationShutdown {
  readonly #ofSocket = new WeakMap<Socket, number>();
  /** The raw sockets of TLS connections. */
  readonly #accepted = new Set<Socket>();
  readonly #idle = Promise.withResolvers<void>();
  #server: Server | null = null;
  #count = 0;
  #bytes = 0;
  #isStopping = false;

  constructor(
    private readonly limits: HttpLimits,
    private readonly settings: Pick<Settings, 'SHUTDOWN_DELAY_MS' | 'SHUTDOWN_GRACE_MS'>,
  ) {}

  /** True after a stop signal: no longer ready, though it still serves for SHUTDOWN_DELAY_MS. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Responses of a connection that are not fully sent. */
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

  /** Reverses `begin` and `addBytes`. */
  end(socket: Socket, bytes: number): void {
    this.#ofSocket.set(socket, this.of(socket) - 1);
    this.#bytes -= bytes;
    this.#count -= 1;
    if (this.#isStopping && this.#count === 0) this.#idle.resolve();
  }

  /**
   * Registers the server, whose connections are closed when the process stops. On a TLS server, `closeAllConnections`
   * misses connections whose handshake is under way.
   */
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

  /** Takes no new connections, answers what arrives on open ones within `lastRequestMs`, and closes all within `graceMs`. */
  async #drain(server: Server, graceMs: number): Promise<void> {
    // close() of an HTTP server also cuts off responses that are complete but not fully sent
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    const lastRequestMs = Math.min(this.limits.lastRequestMs, graceMs);
    await within(closed, lastRequestMs);
    // this process may have been blocked, with requests waiting to be read
    await setImmediate();
    if (this.#count > 0) await within(this.#idle.promise, graceMs - lastRequestMs);
    server.closeAllConnections();
    for (const socket of this.#accepted) socket.destroy();
  }
}
