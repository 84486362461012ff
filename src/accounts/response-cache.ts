import { LRUCache } from 'lru-cache';
import type { Snapshot } from '../snapshot/snapshot.js';
import type { ServedSnapshot } from '../snapshot/snapshot-cache.js';
import type { EncodedResponse } from './encoded-response.js';

/** Memory for encoded responses, all their forms counted. */
const MAX_BYTES = 32 * 1024 * 1024;
/** What a kept response costs beside its bytes. */
const OVERHEAD_BYTES = 500;

/** Responses of the present snapshot, made once for each key and bounded by bytes. */
export class ResponseCache {
  #snapshot: Snapshot | null = null;
  readonly #ready = new LRUCache<string, EncodedResponse>({
    maxSize: MAX_BYTES,
    sizeCalculation: (response, key) => response.bytes + 2 * key.length + OVERHEAD_BYTES,
  });

  /** The response to this key when it is there already, else undefined. */
  ready({ snapshot, stale }: ServedSnapshot, key: string): EncodedResponse | undefined {
    return snapshot === this.#snapshot ? this.#ready.get(toFullKey(key, stale)) : undefined;
  }

  /** @param make is handed what must be called when the response has grown, so that its size is counted again */
  add(
    { snapshot, stale }: ServedSnapshot,
    key: string,
    make: (onGrown: (response: EncodedResponse) => void) => EncodedResponse,
  ): EncodedResponse {
    const keep = (response: EncodedResponse) => this.#keep(snapshot, toFullKey(key, stale), response);
    const made = make(keep);
    keep(made);
    return made;
  }

  /** Of an older snapshot nothing is kept. */
  #keep(snapshot: Snapshot, key: string, response: EncodedResponse): void {
    if (snapshot !== this.#snapshot) {
      if (this.#snapshot && snapshot.askedAt.monotonic < this.#snapshot.askedAt.monotonic) return;
      this.#ready.clear();
      this.#snapshot = snapshot;
    }
    this.#ready.set(key, response);
  }
}

const toFullKey = (key: string, stale: boolean) => `${stale ? 'stale ' : ''}${key}`;
