import type { Settings } from '../../config/settings.js';
import type { Log } from '../../telemetry/log.js';
import { Activity } from '../../telemetry/activity.js';
import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../../test/support/fake-clock.js';
import { keepLines } from '../../../test/support/log-lines.js';
import type { SnapshotService } from '../../cache/snapshot-service.js';
import { ANY } from '../../cache/freshness.js';
import { AccessTokenProvider, toAccessToken, type AccessToken } from '../../auth/access-token-provider.js';
import { NoToken } from '../../auth/authorized-call.js';
import type { IdentityHolder } from '../../auth/identity-holder.js';
import { snapshotOf } from '../../../test/support/sample-snapshots.js';
import { createSnapshotService } from '../../../test/support/snapshot-service.js';
import type { RefreshRequest, Snapshot, SnapshotSource } from '../../snapshot/snapshot-source.js';
import type { UnderWay } from '../../http/under-way.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { orAborted } from '../../time/deadline.js';
import { healthyFacts } from '../../../test/support/sample-facts.js';
import type { BankDrift } from '../../bank/bank-drift.js';
import { BankCondition } from '../../bank/bank-condition.js';
import { GatewayStatus } from './gateway-status.js';
import { judgeHealth } from './judge-health.js';
import { isReady, Readiness } from './readiness.js';

const NO_DRIFT = { found: [] } as unknown as BankDrift;
const NOT_SHARED = { status: () => ({ redis: null, file: null }) } as SnapshotSource;
const DOWN = new GatewayError('bank-unreachable', 'down', { retryAfterMs: 1000 });

/** Readiness with the real token and snapshot rules, and a scripted bank. */
class Scene {
  readonly clock = new FakeClock();
  readonly underWay = { isStopping: false };
  readonly counts = { tokens: 0, refreshes: 0 };
  unusable: string | null = null;
  copy: Snapshot | null = null;
  onToken: () => Promise<AccessToken> = () => Promise.resolve(this.token());
  onRefresh: () => Promise<Snapshot> = () => Promise.resolve(this.empty());
  readonly tokens: AccessTokenProvider;
  readonly snapshots: SnapshotService;
  readonly status: GatewayStatus;
  readonly readiness: Readiness;

  constructor() {
    const { clock } = this;
    const { log, logger } = keepLines();
    const activity = new Activity();
    this.tokens = new AccessTokenProvider({
      activity,
      clock,
      logger,
      request: () => {
        this.counts.tokens += 1;
        return this.onToken();
      },
    });
    // as in AuthorizedCall: without a token there is no call, so the bank has not failed
    const read = async ({ signal }: RefreshRequest) => {
      if (this.copy) return this.copy;
      await orAborted(this.tokens.get(), signal).catch((error: GatewayError) => {
        throw new NoToken(error.code, error.detail, error);
      });
      this.counts.refreshes += 1;
      return orAborted(this.onRefresh(), signal);
    };
    this.snapshots = createSnapshotService({ read, clock, log, activity, tokens: this.tokens }).snapshots;
    const { certificate } = healthyFacts;
    const identities = {
      current: { tokens: this.tokens, egress: { clockSkewMs: null, serverCertificateEnds: null } },
      status: () => ({ ...certificate, unusable: this.unusable }),
    } as unknown as IdentityHolder;
    const settings = { SNAPSHOT_SOFT_TIMEOUT_MS: 1000 } as Settings;
    const condition = new BankCondition(activity, identities, clock, log as unknown as Log, settings);
    this.status = new GatewayStatus(
      clock,
      this.underWay as UnderWay,
      null,
      identities,
      condition,
      NO_DRIFT,
      this.snapshots,
      NOT_SHARED,
    );
    this.readiness = new Readiness(this.status, identities, this.snapshots);
  }

  /** Readiness as shown by the gauge, without a call. */
  get ready(): boolean {
    return isReady(this.status.read());
  }

  /** Readiness as reported by the probe. */
  async check(): Promise<boolean> {
    return isReady(await this.readiness.facts());
  }

  /** Takes another instance's copy. */
  takeCopy() {
    this.copy = this.empty('shared');
    return this.snapshots.get(ANY);
  }

  empty(source: 'bank' | 'shared' = 'bank'): Snapshot {
    return snapshotOf([], true, this.clock.now(), 5, source);
  }

  token(): AccessToken {
    return toAccessToken('x', 300_000, this.clock.now());
  }
}

describe('a process is ready', () => {
  it('if it is new, once the probe has read the accounts', async () => {
    const scene = new Scene();
    expect(scene.ready).toBe(false);
    expect(await scene.check()).toBe(true);
    expect(scene.counts).toEqual({ tokens: 1, refreshes: 1 });
  });

  it('if nobody has called it for hours, before and after the probe, and no component is down', async () => {
    const scene = new Scene();
    await scene.snapshots.get(ANY);
    scene.clock.advance(3 * 3_600_000);
    expect(scene.tokens.usable).toBeNull();
    expect(scene.ready).toBe(true);
    const { token, snapshot } = judgeHealth(scene.status.read()).parts;
    expect([token.status, snapshot.status]).not.toContain('down');
    expect(await scene.check()).toBe(true);
    expect(scene.counts).toEqual({ tokens: 2, refreshes: 1 });
  });
});

describe('a process with a copy from another instance or an earlier run is ready', () => {
  it('if it has never had a token because the bank is unreachable', async () => {
    const scene = new Scene();
    await scene.takeCopy();
    scene.onToken = () => Promise.reject(DOWN);
    expect(await scene.check()).toBe(true);
  });
});

describe('a process is not ready', () => {
  it('if it has a token but has never read the accounts', async () => {
    const scene = new Scene();
    scene.onRefresh = () => new Promise(() => undefined);
    expect(await scene.check()).toBe(false);
    expect(scene.tokens.usable).not.toBeNull();
  });

  it('if its token request hangs: the probe waits at most 500 ms', async () => {
    const scene = new Scene();
    scene.onToken = () => new Promise(() => undefined);
    const started = performance.now();
    expect(await scene.check()).toBe(false);
    expect(performance.now() - started).toBeGreaterThanOrEqual(490);
  });

  it('if its snapshot is too old and its token cannot be renewed', async () => {
    const scene = new Scene();
    await scene.check();
    await scene.snapshots.get(ANY);
    scene.clock.advance(300_001);
    scene.onToken = () => Promise.reject(DOWN);
    // not noticed yet: the probe requests a token
    expect(scene.ready).toBe(true);
    expect(await scene.check()).toBe(false);
    expect(scene.ready).toBe(false);
  });

  it('if its last refresh failed despite a token, until one succeeds', async () => {
    const scene = new Scene();
    scene.onRefresh = () => Promise.reject(DOWN);
    await expect(scene.snapshots.get(ANY)).rejects.toThrow('down');
    expect(scene.tokens.usable).not.toBeNull();
    expect(await scene.check()).toBe(false);
    scene.onRefresh = () => Promise.resolve(scene.empty());
    scene.clock.advance(1000);
    expect(await scene.check()).toBe(true);
  });

  it('if its certificate cannot be used; it then makes no call', async () => {
    const scene = new Scene();
    scene.unusable = 'expired';
    expect(await scene.check()).toBe(false);
    expect(scene.counts.tokens).toBe(0);
  });

  it.each(['credentials-rejected', 'certificate-rejected'] as const)(
    'if it has never had a token and gets %s, whatever copy it could serve, until it gets a token',
    async (code) => {
      const scene = new Scene();
      await scene.takeCopy();
      scene.onToken = () => Promise.reject(new GatewayError(code, 'no'));
      expect(await scene.check()).toBe(false);
      expect(judgeHealth(scene.status.read())).toMatchObject({ status: 'error', parts: { token: { code } } });
      expect(await scene.snapshots.get(ANY)).toBeTruthy();
      scene.onToken = () => Promise.resolve(scene.token());
      scene.clock.advance(40_000);
      expect(await scene.check()).toBe(true);
      // rejected afterwards: the copy may be served
      scene.onToken = () => Promise.reject(new GatewayError(code, 'no'));
      scene.clock.advance(260_000);
      expect(await scene.check()).toBe(true);
    },
  );

  it('if it has a copy but has never had a token and its certificate cannot be used', async () => {
    const scene = new Scene();
    await scene.takeCopy();
    scene.unusable = 'expired';
    expect(await scene.check()).toBe(false);
  });

  it('if it is stopping, whatever is cached; it then makes no call', async () => {
    const scene = new Scene();
    await scene.snapshots.get(ANY);
    scene.underWay.isStopping = true;
    const before = { ...scene.counts };
    scene.clock.advance(400_000);
    expect(await scene.check()).toBe(false);
    expect(scene.counts).toEqual(before);
  });
});

describe('a health request', () => {
  it('costs at most one token request per token life', async () => {
    const scene = new Scene();
    for (let second = 0; second < 890; second += 10) {
      expect(await scene.check()).toBe(true);
      scene.clock.advance(10_000);
    }
    expect(scene.counts).toEqual({ tokens: 3, refreshes: 1 });
  });

  it('requests nothing during the back-off of the list, even if the token has expired', async () => {
    const scene = new Scene();
    scene.onToken = () => Promise.resolve(toAccessToken('x', 4000, scene.clock.now()));
    scene.onRefresh = () => Promise.reject(new GatewayError('bank-error', 'no', { retryAfterMs: 60_000 }));
    for (let second = 0; second < 59; second += 1) {
      await scene.check();
      scene.clock.advance(1000);
    }
    expect(scene.counts).toEqual({ tokens: 1, refreshes: 1 });
    // its end is the next attempt
    scene.clock.advance(2000);
    await scene.check();
    expect(scene.counts).toEqual({ tokens: 2, refreshes: 2 });
  });

  it('follows the back-off while the bank fails', async () => {
    const scene = new Scene();
    scene.onToken = () => Promise.reject(new GatewayError('credentials-rejected', 'no'));
    for (let second = 0; second < 29; second += 1) {
      await scene.check();
      scene.clock.advance(1000);
    }
    expect(scene.counts.tokens).toBe(1);
  });
});
