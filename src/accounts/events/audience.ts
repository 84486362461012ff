import { createMatcher, matchAccounts, type Filters } from '../../snapshot/select.js';
import type { Snapshot } from '../../snapshot/snapshot.js';
import type { Changes, StateHistory } from './state-history.js';

/** More ids than these are not named one by one. */
const MAX_IDS = 1000;
/** Nor are ids of unheard-of length. */
const MAX_DATA_LENGTH = 100_000;

/** What a `snapshot` event says of changes. */
interface ToldChanges extends Changes {
  /** There are more than 1 000 ids, or they are not known. */
  readonly many?: true;
}

const NONE: ToldChanges = { added: [], changed: [], removed: [], totalsChanged: false };
const MANY: ToldChanges = { ...NONE, totalsChanged: true, many: true };

/** All listeners with the same filters: what they are told is found out once. */
export class Audience {
  /** How many listen, or are about to. */
  size = 0;
  readonly #filters: Filters;
  readonly #matches: ReturnType<typeof createMatcher>;
  /** The state of which these are known. */
  #state = -1;
  #accounts = 0;
  /** What was told of the present snapshot, by the state that a listener knew. */
  readonly #told = new Map<string, string | null>();
  #toldOf: Snapshot | null = null;

  constructor(filters: Filters) {
    this.#filters = filters;
    this.#matches = createMatcher(filters);
  }

  /**
   * The data of the `snapshot` event for one who knows a state (null: none), as JSON; null when nothing has changed for
   * these filters.
   */
  toData(history: StateHistory, snapshot: Snapshot, state: number | null, stale: boolean): string | null {
    if (this.#toldOf !== snapshot) {
      this.#toldOf = snapshot;
      this.#told.clear();
    }
    const key = `${state} ${stale}`;
    let data = this.#told.get(key);
    if (data !== undefined) return data;
    const changes = state === null ? NONE : toTold(history.since(state, this.#matches));
    const { asOf, complete } = snapshot;
    const head = { asOf, stale, complete, accounts: this.#count(history, snapshot) };
    data = changes && JSON.stringify({ ...head, ...changes });
    if (data !== null && data.length > MAX_DATA_LENGTH) data = JSON.stringify({ ...head, ...MANY });
    this.#told.set(key, data);
    return data;
  }

  /** How many accounts match in the present state. */
  #count(history: StateHistory, snapshot: Snapshot): number {
    if (this.#state === history.present) return this.#accounts;
    const changes = this.#state === -1 ? null : history.since(this.#state, this.#matches);
    if (changes === null) this.#accounts = count(matchAccounts(snapshot, this.#filters), snapshot.size);
    else this.#accounts += changes.added.length - changes.removed.length;
    this.#state = history.present;
    return this.#accounts;
  }
}

function toTold(changes: Changes | null): ToldChanges | null {
  if (changes === null) return MANY;
  const { added, changed, removed } = changes;
  const ids = added.length + changed.length + removed.length;
  if (ids === 0) return null;
  return ids > MAX_IDS ? { ...MANY, totalsChanged: changes.totalsChanged } : changes;
}

function count(mask: Uint8Array | null, size: number): number {
  return mask === null ? size : mask.reduce((sum, one) => sum + one, 0);
}
