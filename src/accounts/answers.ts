import { LRUCache } from 'lru-cache';
import type { Account } from './account.js';
import type { ListQuery } from './list-query.js';
import { Rendered } from './rendered.js';
import type { Snapshot } from './snapshot.js';
import { toAsOf, type ServedSnapshot } from './snapshot-keeper.js';

/** Memory for ready-made answers; compressed forms are at most about as large again. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Ready-made answers, made once per snapshot and question, bounded by bytes. */
export class Answers {
  #snapshot: Snapshot | null = null;
  readonly #ready = new LRUCache<string, Rendered>({
    maxSize: MAX_BYTES,
    sizeCalculation: (rendered) => rendered.bytes + 200,
  });

  list(served: ServedSnapshot, { pageNumber, pageSize }: ListQuery): Rendered {
    return this.#answer(served, `list ${pageNumber} ${pageSize}`, ({ accounts }) => {
      const start = (pageNumber - 1) * pageSize;
      const page = {
        number: pageNumber,
        size: pageSize,
        total: accounts.length,
        hasMore: start + pageSize < accounts.length,
      };
      return { accounts: accounts.slice(start, start + pageSize), page };
    });
  }

  one(served: ServedSnapshot, account: Account): Rendered {
    return this.#answer(served, `one ${account.id}`, () => ({ account }));
  }

  #answer(served: ServedSnapshot, question: string, data: (snapshot: Snapshot) => object): Rendered {
    const { snapshot, stale } = served;
    if (snapshot !== this.#snapshot) {
      this.#ready.clear();
      this.#snapshot = snapshot;
    }
    const key = `${stale} ${question}`;
    let rendered = this.#ready.get(key);
    if (!rendered) {
      rendered = render(data(snapshot), { stale, complete: snapshot.complete }, toAsOf(snapshot));
      this.#ready.set(key, rendered);
    }
    return rendered;
  }
}

function render(data: object, state: { stale: boolean; complete: boolean | null }, asOf: string): Rendered {
  const json = JSON.stringify(data);
  const body = `${json.slice(0, -1)},"snapshot":${JSON.stringify({ asOf, ...state })}}`;
  return new Rendered(body, json + JSON.stringify(state));
}
