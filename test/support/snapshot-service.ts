import type { IdentityHolder } from '../../src/auth/identity-holder.js';
import type { GatewayError } from '../../src/errors/gateway-error.js';
import type { Settings } from '../../src/config/settings.js';
import type { Log } from '../../src/telemetry/log.js';
import { CachedSnapshot } from '../../src/cache/cached-snapshot.js';
import { Refresher } from '../../src/cache/refresher.js';
import { SnapshotService } from '../../src/cache/snapshot-service.js';
import {
  SnapshotSource,
  type Accepts,
  type RefreshRequest,
  type Snapshot,
} from '../../src/snapshot/snapshot-source.js';
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
  readonly read: (request: RefreshRequest) => Promise<Snapshot>;
  /** Copies from other instances; by default there are none. */
  readonly take?: SnapshotSource['take'];
  readonly clock: Clock;
  readonly log: Pick<Log, 'logger'>;
  /** The token provider of the current identity. */
  readonly tokens?: { failureNow(): GatewayError | null };
  readonly activity?: Activity;
  readonly settings?: Partial<Pick<Settings, keyof typeof SETTINGS>>;
}

/** Replaces the bank and everything else below the cache. */
class ScriptedSource extends SnapshotSource {
  constructor(private readonly parts: Pick<Parts, 'read' | 'take'>) {
    super();
  }

  override read(request: RefreshRequest): Promise<Snapshot> {
    return this.parts.read(request);
  }

  override get isShared(): boolean {
    return this.parts.take !== undefined;
  }

  override async take(accepts: Accepts): Promise<Snapshot | null> {
    return this.parts.take?.(accepts) ?? null;
  }
}

/** A cache as CacheModule creates it, whose refreshes call `read`. Stopped after the test. */
export function createSnapshotService(parts: Parts) {
  const { clock, log, settings, activity = new Activity(), tokens = { failureNow: () => null } } = parts;
  const all = { ...SETTINGS, ...settings } as Settings;
  const cached = new CachedSnapshot(clock, all);
  const source = new ScriptedSource(parts);
  const identities = { current: { tokens } };
  const refresher = new Refresher(
    cached,
    source,
    all,
    clock,
    log as Log,
    activity,
    identities as unknown as IdentityHolder,
  );
  onClose(async () => refresher.onApplicationShutdown());
  return { activity, cached, refresher, identities, snapshots: new SnapshotService(cached, refresher, clock, all) };
}
