import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import { within } from '../time/deadline.js';
import { SharedTask } from './shared-task.js';
import { toFleetKeys, type FleetKeys } from './fleet-keys.js';
import { LeaseStore } from './lease-store.js';
import { RedisFailure, RedisLink } from './redis-link.js';
import { BEAT } from './scripts.js';

const BEAT_EVERY_MS = 2000;
const BEAT_WHEN_AWAY_MS = 500;
/** A caller's request takes two commands and may wait 200 ms for both. */
const BEAT_WITHIN_MS = 100;
const COUNTS_FOR_MS = 30_000;
/** How long a start waits for Redis, and a stop for what is being stored. */
const TIMEOUT_MS = 1000;

interface Parts {
  readonly settings: Settings;
  readonly ownKey: Buffer | null;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What health says of sharing. */
export interface SharingStatus {
  readonly state: 'alone' | 'fleet' | 'unavailable';
  /** Seen within 30 s, this one included. */
  readonly instances: number;
  /** Who reads for the fleet now. */
  readonly lease: 'held' | 'free' | 'other';
  /** Why Redis cannot be used, a word; null when it can. */
  readonly reason: string | null;
}

/** This instance among those that share with it: its tasks, and a sign of life. */
export class Fleet {
  readonly link: RedisLink;
  readonly #parts: Parts;
  readonly #owner = randomBytes(8).toString('hex');
  readonly #keys = new WeakMap<IdentityMaterial, FleetKeys>();
  readonly #tasks = new Map<string, SharedTask>();
  #seen = { instances: 1, holder: '' };
  #nextBeat: NodeJS.Timeout | undefined;
  #beating = false;
  #closed = false;

  /** Connects, waiting a second at most: without Redis it starts alone. */
  static async start(parts: Parts): Promise<Fleet> {
    const fleet = new Fleet(parts);
    await fleet.link.connect(TIMEOUT_MS);
    return fleet;
  }

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.link = new RedisLink(parts.settings, parts.logger);
  }

  /** What `name` stands for among those who use this identity. */
  taskOf(material: IdentityMaterial, name: string): { readonly keys: FleetKeys; readonly task: SharedTask } {
    const { settings, ownKey, clock, logger } = this.#parts;
    const keys = this.#keys.get(material) ?? toFleetKeys(material, settings, ownKey);
    this.#keys.set(material, keys);
    const id = `${keys.name} ${name}`;
    let task = this.#tasks.get(id);
    if (!task) {
      const { link } = this;
      const key = `${settings.REDIS_KEY_PREFIX}${keys.name}:${name}`;
      const store = new LeaseStore({ link, key, topic: id, owner: this.#owner, clock });
      task = new SharedTask({ name, store, link, keys, clock, logger });
      this.#tasks.set(id, task);
    }
    return { keys, task };
  }

  /** Waits after failures are over, for this instance. */
  resetWaits(): void {
    for (const task of this.#tasks.values()) task.resetWait();
  }

  /** From now on gives signs of life, for the identity in use; `name` is the task whose lease health tells of. */
  live(material: () => IdentityMaterial, name: string): void {
    const beat = async () => {
      clearTimeout(this.#nextBeat);
      if (this.#beating || this.#closed) return;
      this.#beating = true;
      await this.#beatOnce(material(), name);
      this.#beating = false;
      if (this.#closed) return;
      this.#nextBeat = setTimeout(() => void beat(), this.link.up ? BEAT_EVERY_MS : BEAT_WHEN_AWAY_MS).unref();
    };
    this.link.on('ready', () => void beat());
    void beat();
  }

  status(): SharingStatus {
    const { instances, holder } = this.#seen;
    const lease = holder === '' ? 'free' : holder.startsWith(`${this.#owner}:`) ? 'held' : 'other';
    if (!this.link.up) {
      return {
        state: 'unavailable',
        instances: 1,
        lease: 'free',
        reason: this.link.trouble?.reason ?? 'not-connected',
      };
    }
    return { state: instances > 1 ? 'fleet' : 'alone', instances, lease, reason: null };
  }

  /** Lets what is being stored end, within a second, and leaves. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#nextBeat);
    await within(Promise.all([...this.#tasks.values()].map((task) => task.leave())), TIMEOUT_MS);
    this.link.close();
  }

  async #beatOnce(material: IdentityMaterial, name: string): Promise<void> {
    const { link } = this;
    const { keys, task } = this.taskOf(material, name);
    const instances = `${this.#parts.settings.REDIS_KEY_PREFIX}${keys.name}:instances`;
    try {
      await link.subscribe();
      const reply = await link.script(
        BEAT,
        [instances, task.store.leaseKey],
        [this.#owner, COUNTS_FOR_MS],
        BEAT_WITHIN_MS,
      );
      const [count, holder] = Array.isArray(reply) ? (reply as unknown[]) : [];
      if (typeof count !== 'number' || !Buffer.isBuffer(holder)) throw new RedisFailure('nonsense');
      this.#seen = { instances: Math.max(1, count), holder: holder.toString() };
      link.well('commands');
    } catch (error) {
      link.failed('commands', error instanceof RedisFailure ? error : new RedisFailure('unknown'));
    }
  }
}
