import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { IdentityHolder } from '../auth/identity-holder.js';
import type { SnapshotCache } from '../snapshot/snapshot-cache.js';
import type { Fleet } from './fleet.js';
import { READING } from './shared-readings.js';

/**
 * Anybody who can write to Redis could say that a token was got: a wrong password, which may lock the user, is so tried again
 * as seldom as after a first refusal (docs/bank.md#token-rules).
 */
const RESET_EVERY_MS = 30_000;

/** What this instance does when others tell of theirs, and how long it is one of them. */
export class FleetMember implements OnModuleInit, OnApplicationShutdown {
  readonly #fleet: Fleet;
  readonly #snapshots: SnapshotCache;
  readonly #identities: IdentityHolder;
  readonly #onDropped: () => void;
  /** Redis was away when what is shared had to go. */
  #toDrop = false;
  #resetAt = -Infinity;

  constructor(fleet: Fleet, snapshots: SnapshotCache, identities: IdentityHolder, onDropped: () => void) {
    this.#fleet = fleet;
    this.#snapshots = snapshots;
    this.#identities = identities;
    this.#onDropped = onDropped;
  }

  onModuleInit(): void {
    const material = () => this.#identities.current.material;
    this.#fleet.live(material, READING);
    this.#fleet.link.on('announcement', (text) => void this.#hear(text));
    const drop = async () => {
      this.#toDrop = !(await this.#fleet.taskOf(material(), READING).task.drop());
    };
    this.#snapshots.listen({ onDropped: () => void drop() });
    this.#fleet.link.on('up', () => void (this.#toDrop && drop()));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#fleet.close();
  }

  async #hear(text: string): Promise<void> {
    const { material, tokens } = this.#identities.current;
    const { keys, task } = this.#fleet.taskOf(material, READING);
    const [fleet, name, what] = text.split(' ');
    if (fleet !== keys.name) return;
    // it went well for another, so it may here
    if (what === 'done' && name === 'token') this.#resetTokens(tokens);
    if (what === 'done' && name === READING) this.#snapshots.resetBackOff();
    if (what !== 'dropped') return;
    // anybody could say so: what is sealed counts
    const waiting = await task.waiting().catch(() => null);
    if (waiting?.code !== 'access-not-granted') return;
    this.#snapshots.drop();
    this.#onDropped();
  }

  #resetTokens(tokens: IdentityHolder['current']['tokens']): void {
    const now = performance.now();
    if (!tokens.waiting || now - this.#resetAt < RESET_EVERY_MS) return;
    this.#resetAt = now;
    tokens.resetBackOff();
  }
}
