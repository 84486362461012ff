import type { ScrapedFigures } from './scraped-figures.js';

/** Where what is held came from: a reading of our own, another instance, the file of the last run. */
const SOURCES = ['bank', 'shared', 'file'] as const;

/** What an instance that shares says of that. */
export interface SharingFigures {
  /** The store answers. */
  readonly up: boolean;
  /** How many snapshots were taken up since the start. */
  readonly snapshots: Readonly<Record<(typeof SOURCES)[number], number>>;
}

/** Adds what only instances that share, or keep a copy over restarts, have. @param store whether there is a store to be up */
export function addSharingFigures(figures: ScrapedFigures, status: () => SharingFigures, store: boolean): void {
  if (store) figures.gauge('sharing_up', 'Whether the store that instances share answers.', () => Number(status().up));
  figures.counter('shared_snapshots', 'Snapshots that were taken up, by where they came from.', ['source'], () => {
    const { snapshots } = status();
    return SOURCES.map((source) => [{ source }, snapshots[source]]);
  });
}
