import type { GatewayError } from '../../problems/gateway-error.js';
import type { SnapshotCache } from '../../snapshot/snapshot-cache.js';

/** The shortest wait after a reading, and between two looks, whatever SNAPSHOT_FRESH_MS is. */
const SHORTEST_PERIOD_MS = 50;
const SHORTEST_MS = 5;
/** What the cache holds grows old by itself, so it is looked at so often. */
const LOOK_MS = 1000;

/**
 * While it runs, a reading is made whenever what is held is older than SNAPSHOT_FRESH_MS: by a caller, or else by this.
 * The waits after failures are the cache's.
 */
export class Poll {
  readonly #snapshots: Pick<SnapshotCache, 'keepFresh'>;
  readonly #freshMs: number;
  readonly #onLook: () => void;
  #timer: NodeJS.Timeout | null = null;
  #notBefore = 0;

  /** @param onLook called about once a second while it runs */
  constructor(snapshots: Pick<SnapshotCache, 'keepFresh'>, freshMs: number, onLook: () => void) {
    this.#snapshots = snapshots;
    this.#freshMs = freshMs;
    this.#onLook = onLook;
  }

  start(): void {
    if (this.#timer === null) this.#look();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** A reading has been made: its age counts. */
  restart(): void {
    this.#notBefore = 0;
    if (this.#timer === null) return;
    this.stop();
    this.#wait(Math.max(SHORTEST_PERIOD_MS, this.#freshMs));
  }

  /** A reading has failed. Where the bank was not asked at all, for lack of a token, the cache has no wait of its own. */
  failed({ retryAfterMs = 0 }: GatewayError): void {
    this.#notBefore = performance.now() + Math.min(Math.max(retryAfterMs, LOOK_MS), Math.max(this.#freshMs, LOOK_MS));
  }

  #look(): void {
    const leftMs = this.#notBefore - performance.now();
    this.#wait(leftMs > 0 ? leftMs : this.#snapshots.keepFresh());
    this.#onLook();
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.max(SHORTEST_MS, Math.min(ms, LOOK_MS))).unref();
  }
}
