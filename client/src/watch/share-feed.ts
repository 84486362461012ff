import type { SnapshotEvent, StateEvent } from '../generated/types.gen.js';
import { keepConnected } from './feed-connection.js';
import type { Feed, FeedMessage } from './watch-events.js';

/** The part of a BroadcastChannel that is used. */
interface Channel {
  addEventListener(type: 'message', listener: (event: { readonly data: ChannelMessage }) => void): void;
  postMessage(message: ChannelMessage): void;
  close(): void;
}

/** What tabs of one origin share a connection by. */
export interface Sharing {
  readonly locks: {
    request(
      name: string,
      options: { signal?: AbortSignal; steal?: boolean },
      held: () => Promise<void>,
    ): Promise<unknown>;
  };
  openChannel(name: string): Channel;
}

/** Null where tabs cannot share: in Node, in older browsers, and on pages over http from another machine, which have no locks. */
export function findSharing(): Sharing | null {
  const { location, navigator, BroadcastChannel } = globalThis as unknown as {
    location?: unknown;
    navigator?: { readonly locks?: Sharing['locks'] };
    BroadcastChannel?: new (name: string) => Channel;
  };
  const locks = navigator?.locks;
  // Node has locks and channels too, but no origin whose tabs could share
  if (!location || !locks || !BroadcastChannel) return null;
  return { locks, openChannel: (name) => new BroadcastChannel(name) };
}

/** What the leader has told so far; a tab that comes later gets it at once, and one that takes over resumes from it. */
interface Known {
  id: string | null;
  snapshot: SnapshotEvent | null;
  state: StateEvent | null;
  connected: boolean;
}

type ChannelMessage =
  | { readonly type: 'told'; readonly message: FeedMessage }
  | { readonly type: 'hello' }
  | { readonly type: 'present'; readonly known: Known };

/**
 * One connection for all tabs that watch the same: the tab that holds the lock has it, and tells the others through a channel. When
 * the leader closes, the browser gives the lock to the next, which resumes where the other was. A leader that is frozen
 * keeps the lock: a tab that hears nothing for so long asks it, and takes the lock from it when nothing is heard for as long again.
 * Resolves when the signal is aborted, or after an answer that no repeat would change.
 */
export async function shareFeed(
  feed: Feed,
  tell: (message: FeedMessage) => void,
  signal: AbortSignal,
  sharing: Sharing,
  askAfterMs = 30_000,
): Promise<void> {
  const follower = new Follower(feed, tell, signal, sharing);
  const looking = setInterval(() => follower.lookAtLeader(), askAfterMs);
  try {
    await follower.run();
  } finally {
    clearInterval(looking);
    follower.leave();
  }
}

class Follower {
  readonly #feed: Feed;
  readonly #tell: (message: FeedMessage) => void;
  readonly #signal: AbortSignal;
  readonly #locks: Sharing['locks'];
  readonly #name: string;
  readonly #channel: Channel;
  #known: Known = { id: null, snapshot: null, state: null, connected: false };
  #leading: AbortController | null = null;
  /** Ends the waiting for the lock. */
  #waiting = new AbortController();
  #silence: 'none' | 'some' | 'asked' = 'none';

  constructor(feed: Feed, tell: (message: FeedMessage) => void, signal: AbortSignal, sharing: Sharing) {
    this.#feed = feed;
    this.#tell = tell;
    this.#signal = signal;
    this.#locks = sharing.locks;
    this.#name = `accounts-gateway-client ${feed.url}`;
    this.#channel = sharing.openChannel(this.#name);
    this.#channel.addEventListener('message', ({ data }) => this.#hear(data));
    signal.addEventListener('abort', () => this.#waiting.abort());
    this.#post({ type: 'hello' });
  }

  async run(): Promise<void> {
    let steal = false;
    while (!this.#signal.aborted) {
      this.#waiting = new AbortController();
      this.#silence = 'none';
      try {
        const options = steal ? { steal } : { signal: this.#waiting.signal };
        return void (await this.#locks.request(this.#name, options, () => this.#lead()));
      } catch (error) {
        if ((error as Error).name !== 'AbortError') throw error;
        // the lock was taken from this tab, or this tab is to take it
        steal = this.#leading === null;
        this.#leading?.abort();
        this.#leading = null;
      }
    }
  }

  leave(): void {
    this.#leading?.abort();
    this.#channel.close();
  }

  /** To be called from time to time. */
  lookAtLeader(): void {
    if (this.#leading) return;
    if (this.#silence === 'asked') return this.#waiting.abort();
    if (this.#silence === 'some') this.#post({ type: 'hello' });
    this.#silence = this.#silence === 'some' ? 'asked' : 'some';
  }

  async #lead(): Promise<void> {
    const leading = new AbortController();
    this.#leading = leading;
    // others may know of an earlier leader what this one does not
    if (!this.#known.id) this.#post({ type: 'told', message: { type: 'reset', id: null } });
    const tell = (message: FeedMessage) => {
      this.#note(message);
      this.#tell(message);
      // the next tab asks for itself whether it is refused, too
      const isLast = message.type === 'error' && message.problem.retryAfterMs === null;
      if (!isLast) this.#post({ type: 'told', message });
    };
    const { id: lastId, state: bank } = this.#known;
    await keepConnected(this.#feed, { lastId, bank }, tell, AbortSignal.any([this.#signal, leading.signal]));
  }

  #hear(heard: ChannelMessage): void {
    if (heard.type === 'hello') {
      if (this.#leading) this.#post({ type: 'present', known: this.#known });
      return;
    }
    this.#silence = 'none';
    if (heard.type === 'present') return this.#begin(heard.known);
    // nothing is lost to a tab that has been told nothing
    if (heard.message.type === 'reset' && !this.#hasBegun) return;
    this.#note(heard.message);
    this.#tell(heard.message);
  }

  /** Tells what the leader knows, once: as the first events of a connection of its own would. */
  #begin(known: Known): void {
    if (this.#leading) return;
    const { id, snapshot, state, connected } = known;
    this.#tell({ type: 'connection', connected });
    // an event may have come before, and what was told before that is lost: whether it is connected
    if (this.#hasBegun) return this.#note({ type: 'connection', connected });
    this.#known = known;
    if (state) this.#tell({ type: 'state', id, event: state });
    if (snapshot) {
      const { many: _, ...present } = snapshot;
      const event = { ...present, added: [], changed: [], removed: [], totalsChanged: false };
      this.#tell({ type: 'snapshot', id, event });
    }
  }

  get #hasBegun(): boolean {
    return this.#known.snapshot !== null || this.#known.state !== null;
  }

  #note(message: FeedMessage): void {
    if ('id' in message) this.#known.id = message.id ?? this.#known.id;
    if (message.type === 'snapshot') this.#known.snapshot = message.event;
    else if (message.type === 'state') this.#known.state = message.event;
    else if (message.type === 'connection') this.#known.connected = message.connected;
  }

  #post(message: ChannelMessage): void {
    if (this.#signal.aborted) return;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
    this.#channel.postMessage(message);
  }
}
