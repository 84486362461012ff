import type { SharingCondition } from '../sharing/sharing.js';
import type { ScrapedFigures } from './scraped-figures.js';

/** Adds what only instances that share, or keep a copy over restarts, have. @param store whether there is a store to be up */
export function addSharingFigures(
  figures: ScrapedFigures,
  status: () => SharingCondition['figures'],
  store: boolean,
): void {
  if (store) figures.gauge('sharing_up', 'Whether the store that instances share answers.', () => Number(status().up));
  figures.counter('shared_snapshots', 'Snapshots that were taken up, by where they came from.', ['source'], () =>
    Object.entries(status().snapshots).map(([source, count]) => [{ source }, count] as const),
  );
}
