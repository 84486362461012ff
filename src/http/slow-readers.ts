import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections, Exchange } from './connections.js';
import type { HttpLimits } from './http-limits.js';

/** Looks at which a client had taken nothing, one after the other. */
interface Stall {
  readonly looks: number;
  readonly at: number;
}

/** Disconnects clients that take no byte of their response, and those with the most bytes while too many wait in total (docs/bounds.md#callers). */
export class SlowReaders {
  readonly #connections: Connections<Exchange>;
  readonly #limits: HttpLimits;
  readonly #stalls = new WeakMap<Socket, Stall>();
  /** Responses that were already waiting at the last look. What is on its way is not counted. */
  #waited = new Set<ServerResponse>();

  constructor(connections: Connections<Exchange>, limits: HttpLimits) {
    this.#connections = connections;
    this.#limits = limits;
  }

  /** Applies the rules to a server, before it listens. */
  watch(server: Server): void {
    const { stallLookMs, waitingLookMs } = this.#limits;
    server.setTimeout(stallLookMs);
    server.on('timeout', (socket: Socket) => this.#onInactive(socket));
    server.once('listening', () => {
      const looks = setInterval(() => this.#limitWaitingBytes(), waitingLookMs).unref();
      server.once('close', () => clearInterval(looks));
    });
  }

  /** Node's `timeout`: nothing came and nothing was taken for `stallLookMs`, or an idle connection was kept long enough. */
  #onInactive(socket: Socket): void {
    const { stallLookMs } = this.#limits;
    if (this.#connections.unansweredOf(socket).length === 0) {
      // Node gives an idle connection the time of keep-alive; any other is still sending its request, which has its own timeouts
      const isKept = socket.timeout !== stallLookMs;
      if (isKept) socket.destroy();
      return;
    }
    if (socket.writableLength > 0 && this.#isStalled(socket)) {
      this.#connections.close(socket, 'the client reads no bytes of a response');
      return;
    }
    socket.setTimeout(stallLookMs);
  }

  /** Notes a look at which the client had taken nothing; returns true at the last of `stalledLooks` in a row. */
  #isStalled(socket: Socket): boolean {
    const { stallLookMs, stalledLooks } = this.#limits;
    const now = performance.now();
    const last = this.#stalls.get(socket);
    // a longer gap means that the client took something: Node then emits no timeout
    const isNext = last !== undefined && now - last.at < 1.5 * stallLookMs;
    const looks = isNext ? last.looks + 1 : 1;
    this.#stalls.set(socket, { looks, at: now });
    return looks >= stalledLooks;
  }

  /** Closes the connections with the most response bytes while too many wait in total. */
  #limitWaitingBytes(): void {
    const waiting = new Set<ServerResponse>();
    const sizes: { readonly socket: Socket; readonly bytes: number }[] = [];
    let total = 0;
    for (const [socket, unanswered] of this.#connections.all()) {
      const unsent = unanswered.map(({ raw }) => raw).filter(({ writableLength }) => writableLength > 0);
      const before = unsent.filter((response) => this.#waited.has(response));
      const bytes = before.reduce((sum, { writableLength }) => sum + writableLength, 0);
      for (const response of unsent) waiting.add(response);
      if (bytes > 0) sizes.push({ socket, bytes });
      total += bytes;
    }
    this.#waited = waiting;
    sizes.sort((one, other) => other.bytes - one.bytes);
    for (const { socket, bytes } of sizes) {
      if (total <= this.#limits.waitingBytes) return;
      total -= bytes;
      this.#connections.close(socket, 'too many response bytes wait for clients, most of them on this connection');
    }
  }
}
