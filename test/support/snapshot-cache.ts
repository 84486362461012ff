import { BankCondition } from '../../src/auth/bank-condition.js';
import type { Settings } from '../../src/config/settings.js';
import type { Log } from '../../src/telemetry/log.js';
import { CachedSnapshot } from '../../src/snapshot/cached-snapshot.js';
import { Refresher } from '../../src/snapshot/refresher.js';
import { SnapshotCache } from '../../src/snapshot/snapshot-cache.js';
import { SnapshotSource, type ReadSnapshot, type RefreshRequest } from '../../src/list/snapshot-source.js';
import { Activity } from '../../src/telemetry/activity.js';
import type { Clock } from '../../src/time/clock.js';
import { onClose } from './closing.js';

const SETTINGS = {
  SNAPSHOT_FRESH_MS: 10_000,
  SNAPSHOT_SOFT_TIMEOUT_MS: 1000,
  SNAPSHOT_MAX_AGE_MS: 300_000,
  REQUEST_DEADLINE_MS: 1000,
  MAX_REQUESTS_WAITING: 100,
};

interface Parts {
  readonly read: (request: RefreshRequest) => Promise<ReadSnapshot>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'logger'>;
  readonly condition?: BankCondition;
  readonly activity?: Activity;
  readonly settings?: Partial<Pick<Settings, keyof typeof SETTINGS>>;
}

/** Replaces the bank and everything below the cache. */
class ScriptedSource extends SnapshotSource {
  constructor(override readonly read: Parts['read']) {
    super();
  }
}

/** A cache as SnapshotModule creates it, whose refreshes call `read`. Stopped after the test. */
export function createSnapshotCache({ read, clock, log, condition, activity = new Activity(), settings }: Parts) {
  const all = { ...SETTINGS, ...settings } as Settings;
  const cached = new CachedSnapshot(clock, all);
  condition ??= new BankCondition(clock, log);
  const refresher = new Refresher(cached, new ScriptedSource(read), all, clock, log, activity, condition);
  onClose(async () => refresher.onApplicationShutdown());
  return { activity, cached, refresher, condition, snapshots: new SnapshotCache(cached, refresher, clock, all) };
}
