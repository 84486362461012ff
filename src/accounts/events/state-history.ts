import { filteredTexts, type FilteredTexts } from '../../snapshot/select.js';
import type { Snapshot } from '../../snapshot/snapshot.js';
import { Breather } from './breather.js';
import { compareSnapshots } from './compare-snapshots.js';

/** What differs between a state and the present one, for those who see some of the accounts. */
export interface Changes {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly totalsChanged: boolean;
}

/** What is kept of an account that has changed: as it was, and as it is. */
interface Kept extends FilteredTexts {
  /** Its CurrentBalance entries, as JSON. */
  readonly entries: string;
}

interface State {
  readonly digest: string;
  /** Grows with each state, and is never used twice. */
  readonly number: number;
  /** What each account that this state changed was before, null for none; null when that is not known or not kept. */
  former: Former | null;
  /** Of `former`, and of what these accounts are since, about. */
  bytes: number;
}

/** By id; null for an account that was not there. */
type Former = ReadonlyMap<string, Kept | null>;

const MAX_STATES = 20;
/** Of more than so many accounts at once, nobody is told one by one. */
const MAX_DIFFERENCES = 5000;
/** For what is kept of accounts, as they were and as they are, of all states together; a change of one takes about 1000. */
const MAX_BYTES = 32 * 1024 * 1024;
const BYTES_BESIDE = 200;

/**
 * The last 20 states of the accounts: each by its digest, and by what the accounts that it changed were before. So it can be
 * told for any filter what differs between one of them and the present one (docs/api.md#the-change-feed).
 */
export class StateHistory {
  #states: State[] = [];
  #number = 0;
  #current: Snapshot | null = null;
  /** All accounts that stand in a `former`, as they are now; null for those that are gone. */
  readonly #present = new Map<string, Kept | null>();

  /** The snapshot of the present state; null before the first one. */
  get snapshot(): Snapshot | null {
    return this.#current;
  }

  /** The number of the present state. */
  get present(): number {
    return this.#number;
  }

  /** The number of the state with this digest, if it is among the last. */
  numberOf(digest: string): number | null {
    return this.#states.findLast((state) => state.digest === digest)?.number ?? null;
  }

  /** Takes the state that follows; one with the same data is no new one. One call at a time. */
  async advance(snapshot: Snapshot): Promise<void> {
    const before = this.#current;
    const comparison = before && before.digest !== snapshot.digest ? await compare(before, snapshot) : null;
    // all may be forgotten meanwhile
    if (this.#current !== before) return;
    this.#current = snapshot;
    if (before?.digest !== snapshot.digest) this.#push(snapshot.digest, comparison);
  }

  /** Forgets all: what is held may not be served any more. */
  clear(): void {
    this.#current = null;
    this.#states = [];
    this.#present.clear();
  }

  /**
   * What differs between the state with this number and the present one, for accounts that match now or did then; null
   * when it cannot be told one by one.
   */
  since(number: number, matches: (account: FilteredTexts) => boolean): Changes | null {
    const former = new Map<string, Kept | null>();
    for (const state of this.#states) {
      if (state.number <= number) continue;
      if (state.former === null) return null;
      for (const [id, account] of state.former) if (!former.has(id)) former.set(id, account);
    }
    const added: string[] = [];
    const changed: string[] = [];
    const removed: string[] = [];
    let totalsChanged = false;
    for (const [id, account] of former) {
      const now = this.#present.get(id) ?? null;
      const [did, does] = [account !== null && matches(account), now !== null && matches(now)];
      if (!did && !does) continue;
      (did ? (does ? changed : removed) : added).push(id);
      const entriesOf = (matching: boolean, one: Kept | null) => (matching && one ? one.entries : '[]');
      totalsChanged ||= entriesOf(did, account) !== entriesOf(does, now);
    }
    return { added, changed, removed, totalsChanged };
  }

  #push(digest: string, comparison: Comparison | null): void {
    this.#number += 1;
    const { former = null, later = null } = comparison ?? {};
    this.#states.push({ digest, number: this.#number, former, bytes: sizeOf(former) + sizeOf(later) });
    for (const [id, account] of later ?? []) this.#present.set(id, account);
    this.#trim();
  }

  /** What is beyond the limits goes, the oldest first: what accounts were before, then the state itself. */
  #trim(): void {
    let bytes = 0;
    let kept = 0;
    for (const state of this.#states.toReversed()) {
      kept += 1;
      bytes += state.bytes;
      // what came before the first of them is not asked for
      if (bytes > MAX_BYTES || kept >= MAX_STATES) this.#drop(state);
    }
    if (this.#states.length > MAX_STATES) this.#states.shift();
  }

  #drop(state: State): void {
    const { former } = state;
    state.former = null;
    state.bytes = 0;
    for (const id of former?.keys() ?? []) {
      if (!this.#states.some((other) => other.former?.has(id))) this.#present.delete(id);
    }
  }
}

interface Comparison {
  /** As they were before. */
  readonly former: Former;
  /** As they are afterwards. */
  readonly later: Former;
}

/** What differs, in full; null where that is too much. */
async function compare(before: Snapshot, after: Snapshot): Promise<Comparison | null> {
  const breather = new Breather();
  const differences = await compareSnapshots(before, after, breather);
  if (differences.length > MAX_DIFFERENCES) return null;
  const former = new Map<string, Kept | null>();
  const later = new Map<string, Kept | null>();
  for (const [old, current] of differences) {
    const id = old === null ? after.id(current) : before.id(old);
    former.set(id, old === null ? null : toKept(before, old));
    later.set(id, current === null ? null : toKept(after, current));
    if (breather.isDue(true)) await breather.breathe();
  }
  return { former, later };
}

function toKept(snapshot: Snapshot, position: number): Kept {
  const { balances } = snapshot.account(position);
  const entries = JSON.stringify(balances.filter(({ type }) => type === 'CurrentBalance'));
  return { ...filteredTexts(snapshot, position), entries };
}

function sizeOf(former: Former | null): number {
  let bytes = 0;
  for (const [id, account] of former ?? []) {
    bytes += BYTES_BESIDE + id.length;
    for (const text of Object.values(account ?? {})) bytes += text?.length ?? 0;
  }
  return bytes;
}
