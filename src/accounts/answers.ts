import { LRUCache } from 'lru-cache';
import type { SnapshotInfo } from './account.js';
import { Rendered } from './rendered.js';
import type { Snapshot } from './snapshot.js';
import type { ServedSnapshot } from './snapshot-keeper.js';

/** Memory for ready-made answers, all their forms counted. */
const MAX_BYTES = 32 * 1024 * 1024;
/** What a kept answer costs beside its bytes. */
const OVERHEAD_BYTES = 500;

/** Ready-made answers, made once per snapshot and question, bounded by bytes. */
export class Answers {
  #snapshot: Snapshot | null = null;
  /** Answers that are being made: all who ask meanwhile share one. */
  readonly #pending = new WeakMap<Snapshot, Map<string, Promise<Rendered>>>();
  readonly #ready = new LRUCache<string, Rendered>({
    maxSize: MAX_BYTES,
    sizeCalculation: (rendered, key) => rendered.bytes + 2 * key.length + OVERHEAD_BYTES,
  });

  /** The answer to this question when it is there already, else undefined. */
  ready({ snapshot, stale }: ServedSnapshot, question: string): Rendered | undefined {
    return snapshot === this.#snapshot ? this.#ready.get(toKey(question, stale)) : undefined;
  }

  /** The answer to this question; `data` makes what stands beside `snapshot` in the body. */
  async get(
    served: ServedSnapshot,
    question: string,
    data: (snapshot: Snapshot) => object | Promise<object>,
  ): Promise<Rendered> {
    const ready = this.ready(served, question);
    if (ready) return ready;
    const { snapshot } = served;
    const key = toKey(question, served.stale);
    const pending = this.#pending.get(snapshot)?.get(key);
    if (pending) return pending;
    const making = this.#make(served, key, data);
    const ofSnapshot = this.#pending.get(snapshot) ?? new Map<string, Promise<Rendered>>();
    this.#pending.set(snapshot, ofSnapshot.set(key, making));
    try {
      return await making;
    } finally {
      ofSnapshot.delete(key);
    }
  }

  async #make(
    served: ServedSnapshot,
    key: string,
    data: (snapshot: Snapshot) => object | Promise<object>,
  ): Promise<Rendered> {
    const { snapshot } = served;
    const made = render(await data(snapshot), toSnapshotInfo(served), (rendered) =>
      this.#keep(snapshot, key, rendered),
    );
    this.#keep(snapshot, key, made);
    return made;
  }

  /** Kept anew when it has grown, so that its size is counted again; dropped with an older snapshot's. */
  #keep(snapshot: Snapshot, key: string, rendered: Rendered): void {
    if (snapshot !== this.#snapshot) {
      if (this.#snapshot && snapshot.askedAt.monotonic < this.#snapshot.askedAt.monotonic) return;
      this.#ready.clear();
      this.#snapshot = snapshot;
    }
    this.#ready.set(key, rendered);
  }
}

const toKey = (question: string, stale: boolean) => `${stale ? 'stale ' : ''}${question}`;

export function toSnapshotInfo({ snapshot, stale }: ServedSnapshot): SnapshotInfo {
  return { asOf: snapshot.asOf, stale, complete: snapshot.complete };
}

function render(data: object, info: SnapshotInfo, onGrown: (rendered: Rendered) => void): Rendered {
  const json = JSON.stringify(data);
  const { stale, complete } = info;
  const body = `${json.slice(0, -1)},"snapshot":${JSON.stringify(info)}}`;
  return new Rendered(body, json + JSON.stringify({ stale, complete }), onGrown);
}
