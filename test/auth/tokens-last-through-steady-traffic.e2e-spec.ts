import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { cleanUp, start } from '../support/sandbox.js';
import { closeGateways, startGateway } from '../support/gateway.js';

afterEach(async () => {
  await closeGateways();
  await cleanUp();
});

const LIFETIME_SECONDS = 6;
const TRAFFIC_MS = 20_000;
/** A token of 6 s is last used 0.6 s before its end. */
const MARGIN_MS = 600;
/** Between the choice of a token and its arrival lie a few turns of this process, in which both sides run. */
const TURNS = 4;

describe('tokens last through steady traffic', () => {
  it('20 s of readings with tokens of 6 s: no error, no expired token sent, no token more than the rules give', async () => {
    const sandbox = await start({ tokenLifetimeSeconds: LIFETIME_SECONDS });
    const gateway = await startGateway(sandbox, { SNAPSHOT_FRESH_MS: '0', SNAPSHOT_SOFT_TIMEOUT_MS: '5000' });
    const stalls = monitorEventLoopDelay({ resolution: 10 });
    stalls.enable();
    const statuses = new Map<string, number>();
    const end = performance.now() + TRAFFIC_MS;
    const caller = async () => {
      while (performance.now() < end) {
        const { status, headers } = await gateway.get('/api/v1/accounts');
        const key = `${status} stale=${headers['snapshot-stale']}`;
        statuses.set(key, (statuses.get(key) ?? 0) + 1);
        await delay(50);
      }
    };
    await Promise.all([caller(), caller(), caller()]);
    stalls.disable();
    // on a machine that stands still for longer than the margin, a token sent in time can arrive too late
    const lateMs = Math.max(0, (TURNS * stalls.max) / 1e6 - MARGIN_MS);
    expect([...statuses.keys()]).toEqual(['200 stale=false']);

    const issued = sandbox.requests.filter(({ endpoint }) => endpoint === 'authorize');
    const lists = sandbox.requests.filter(({ endpoint }) => endpoint === 'accounts');
    // some 300 on a quiet machine
    expect(lists.length).toBeGreaterThan(40);
    if (lateMs === 0) {
      // an expired token would have been answered 401
      expect(new Set(sandbox.requests.map(({ status }) => status))).toEqual(new Set([200]));
      expect(gateway.events('token.rejected')).toEqual([]);
    }
    const issuedAt = new Map(issued.map(({ tokenNumber, at }) => [tokenNumber, Date.parse(at)]));
    const ages = lists.map(({ tokenNumber, at }) => Date.parse(at) - (issuedAt.get(tokenNumber) ?? 0));
    expect(Math.max(...ages)).toBeLessThan(LIFETIME_SECONDS * 1000 + lateMs);

    // renewed between 75 % and 85 % of its life: at 4.5 s at the earliest, at 5.1 s and the next call at the latest
    expect(issued.length).toBeGreaterThanOrEqual(1 + Math.floor(TRAFFIC_MS / 5400));
    expect(issued.length).toBeLessThanOrEqual(1 + Math.ceil(TRAFFIC_MS / 4500));
    const times = issued.map(({ at }) => Date.parse(at));
    for (const [index, time] of times.entries()) {
      const before = times[index - 1];
      if (before !== undefined) expect(time - before).toBeGreaterThan(4400);
    }
    // nobody waited for a renewal: it came in the background
    expect(gateway.events('bank.unavailable')).toEqual([]);
  });
});
