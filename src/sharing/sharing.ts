import type { Activity } from '../telemetry/activity.js';
import type { Clock } from '../time/clock.js';
import type { Settings } from '../config/settings.js';
import { readSnapshotKey } from '../config/snapshot-key.js';
import type { Logger } from 'pino';
import type { SharedReadings } from '../snapshot/snapshot-reader.js';
import type { Fleet, SharingStatus } from './fleet.js';

/** What instances have by Redis. */
export interface Sharing {
  readonly fleet: Fleet;
  readonly readings: SharedReadings;
}

/** How sharing is, for health and metrics. */
export class SharingCondition {
  readonly #fleet: Fleet | null;
  readonly #snapshots = { bank: 0, shared: 0, file: 0 };

  constructor(fleet: Fleet | null, activity: Activity) {
    this.#fleet = fleet;
    activity.on('snapshotTaken', ({ source }) => (this.#snapshots[source] += 1));
  }

  /** For metrics: whether Redis answers, and how many snapshots were taken up since the start, by where they came from. */
  get figures() {
    return { up: this.#fleet?.link.up === true, snapshots: this.#snapshots };
  }

  /** null without REDIS_URL. */
  status(): SharingStatus | null {
    return this.#fleet?.status() ?? null;
  }

  /** Ends the waiting after failures that others have told of, for this instance. */
  resetWaits(): void {
    this.#fleet?.resetWaits();
  }
}

/** Connects to Redis, waiting a second at most; null without REDIS_URL: nothing of it is loaded then. */
export async function startSharing(settings: Settings, clock: Clock, logger: Logger): Promise<Sharing | null> {
  const { SNAPSHOT_KEY_FILE: keyFile } = settings;
  if (settings.REDIS_URL === undefined) return null;
  const [{ Fleet }, { FleetReadings }] = await Promise.all([import('./fleet.js'), import('./shared-readings.js')]);
  const ownKey = keyFile === undefined ? null : readSnapshotKey(keyFile);
  const fleet = await Fleet.start({ settings, ownKey, clock, logger });
  return { fleet, readings: new FleetReadings(fleet, settings) };
}
