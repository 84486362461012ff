import type { Socket } from 'node:net';

/** Beyond MAX_CONNECTIONS these many more are let in, so that probes get through and others are told why not. */
const RESERVE = 80;
/** The same for addresses that may not call, and their part of MAX_CONNECTIONS: probes come from such as well. */
const STRANGERS_RESERVE = 20;
const STRANGERS_PART = 0.1;
const STRANGERS_AT_LEAST = 10;
/** How long a connection beyond MAX_CONNECTIONS may take in all. */
const BRIEF_MS = 2000;

/** Which connections are let in: MAX_CONNECTIONS, and a few more for one brief request each. */
export class Admission {
  readonly #callers: Places;
  readonly #strangers: Places;

  constructor(maxConnections: number) {
    this.#callers = new Places(maxConnections, RESERVE);
    const part = Math.max(STRANGERS_AT_LEAST, Math.floor(maxConnections * STRANGERS_PART));
    this.#strangers = new Places(Math.min(maxConnections, part), STRANGERS_RESERVE);
  }

  /** Lets a new connection in, or destroys it. @param allowed whether its address may call (ALLOWED_CLIENTS) */
  enter(socket: Socket, allowed: boolean): void {
    (allowed ? this.#callers : this.#strangers).enter(socket);
  }

  /** Whether a connection is one of those beyond the limit; also by the TLS socket that was made of it. */
  isBeyond(socket: Socket): boolean {
    const peer = peerOf(socket);
    return this.#callers.isBeyond(peer) || this.#strangers.isBeyond(peer);
  }

  /** A request has come over a connection beyond the limit: it keeps its place. */
  asked(socket: Socket): void {
    const peer = peerOf(socket);
    this.#callers.asked(peer);
    this.#strangers.asked(peer);
  }
}

/** One pool of connections with its reserve, where one that has not asked anything yet gives way to a newer one. */
class Places {
  #taken = 0;
  readonly #silent = new Map<string, Socket>();
  readonly #asked = new Set<string>();

  constructor(
    readonly max: number,
    readonly reserve: number,
  ) {}

  enter(socket: Socket): void {
    if (this.#taken < this.max) {
      this.#taken += 1;
      socket.once('close', () => (this.#taken -= 1));
    } else this.#enterReserve(socket);
  }

  isBeyond(peer: string): boolean {
    return this.#silent.has(peer) || this.#asked.has(peer);
  }

  asked(peer: string): void {
    if (this.#silent.delete(peer)) this.#asked.add(peer);
  }

  #enterReserve(socket: Socket): void {
    if (this.#silent.size + this.#asked.size >= this.reserve) {
      const [oldest] = this.#silent;
      if (!oldest) {
        socket.destroy();
        return;
      }
      const [peer, silent] = oldest;
      this.#silent.delete(peer);
      silent.destroy();
    }
    const peer = peerOf(socket);
    this.#silent.set(peer, socket);
    const timer = setTimeout(() => socket.destroy(), BRIEF_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      if (this.#silent.get(peer) === socket) this.#silent.delete(peer);
      this.#asked.delete(peer);
    });
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
