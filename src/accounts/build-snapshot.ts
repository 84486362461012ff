import type { Instant } from '../clock.js';
import type { Account } from './account.js';
import { compareTexts } from './compare-decimals.js';
import { buildFacets } from './facets.js';
import type { Pause } from './pause.js';
import { Snapshot } from './snapshot.js';
import { mergePositions, sortPositions } from './sort-positions.js';

export interface BuildOptions {
  readonly askedAt: Instant;
  readonly complete: boolean | null;
  readonly before: Snapshot | null;
  /** Asked at the end: how long it all took, ms. */
  readonly durationMs: () => number;
  readonly pause: Pause;
}

/** A snapshot of accounts in any order, no id twice; with pauses, since there may be a hundred thousand. */
export async function buildSnapshot(unsorted: readonly Account[], options: BuildOptions): Promise<Snapshot> {
  const { askedAt, complete, before, pause } = options;
  const accounts = await sortById(unsorted, before, pause);
  const positions = new Map<string, number>();
  const moved = new Int32Array(before?.accounts.length ?? 0).fill(-1);
  for (let position = 0; position < accounts.length; position++) {
    if (position % 1024 === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    const { id } = accounts[position] as Account;
    positions.set(id, position);
    const was = before?.position(id) ?? -1;
    if (was !== -1) moved[was] = position;
  }
  const facets = await buildFacets(
    accounts,
    before && { value: before.facets, accounts: before.accounts, moved },
    pause,
  );
  return new Snapshot({ accounts, positions, askedAt, complete, facets, durationMs: options.durationMs() });
}

/** Those that were there before are put back in their order; the new ones are sorted and merged into them. */
async function sortById(unsorted: readonly Account[], before: Snapshot | null, pause: Pause): Promise<Account[]> {
  const places = new Int32Array(before?.accounts.length ?? 0).fill(-1);
  const added = new Uint32Array(unsorted.length);
  let addedCount = 0;
  for (let index = 0; index < unsorted.length; index++) {
    if (index % 1024 === 0) {
      const wait = pause();
      if (wait) await wait;
    }
    const was = before?.position((unsorted[index] as Account).id) ?? -1;
    if (was === -1) added[addedCount++] = index;
    else places[was] = index;
  }
  const compare = (a: number, b: number) => compareTexts((unsorted[a] as Account).id, (unsorted[b] as Account).id);
  const kept = Uint32Array.from(places.filter((index) => index !== -1));
  const sorted = await sortPositions(added.subarray(0, addedCount), compare, pause);
  const order = kept.length === 0 ? sorted : await mergePositions(kept, sorted, compare, pause);
  return Array.from(order, (index) => unsorted[index] as Account);
}
