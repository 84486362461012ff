import { describe, expect, it, jest } from '@jest/globals';
import { FakeClock } from '../../../test/support/fake-clock.js';
import { keepLines } from '../../../test/support/log-lines.js';
import type { Settings } from '../../config/settings.js';
import { Activity } from '../../telemetry/activity.js';
import { Log } from '../../telemetry/log.js';
import type { GatewayStatus } from '../status/gateway-status.js';
import { Callers } from './callers.js';
import { Metrics } from './metrics.js';
import { RecentEvents, RecentHistory } from './recent-history.js';
import { CallTally } from './call-tally.js';

function createHistory() {
  const activity = new Activity();
  const clock = new FakeClock();
  const status: { ageMs: number | null } = { ageMs: null };
  const callers = new Callers(clock);
  const facts = { read: () => ({ at: clock.now().wall, snapshot: status }) } as unknown as GatewayStatus;
  const history = new RecentHistory(activity, facts, callers);
  const request = (ms: number, change: object = {}) =>
    activity.emit('requestEnded', {
      method: 'GET',
      route: '/api/v1/accounts',
      isCall: true,
      status: 200,
      ms,
      ...change,
    });
  // the listener does the recording
  const metrics = new Metrics(activity, callers, history, {} as Settings);
  /** Time passes, with a point every 10 s. */
  const advance = (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      clock.advance(Math.min(10_000, left));
      history.endPoint();
    }
  };
  return { metrics, activity, clock, status, history, callers, request, advance };
}

/** The accuracy promised in docs/logs.md#the-last-hour. */
function expectWithin8Percent(reported: number | null | undefined, ms: number): void {
  expect(Math.abs((reported ?? NaN) - ms)).toBeLessThanOrEqual(ms * 0.08);
}

describe('the last hour', () => {
  it('counts each interval separately', () => {
    const { activity, clock, status, history, request } = createHistory();
    for (let ms = 1; ms <= 100; ms += 1) request(ms);
    request(5, { status: 503, problem: { code: 'bank-error', owner: 'bank' } });
    request(5, { status: 404 });
    request(5, { status: 499 });
    request(5, { cache: 'stale', status: 304 });
    request(5000, { clientName: 'console', isOwnPage: true });
    request(5000, { route: '/health', isCall: false });
    request(5000, { route: undefined, isCall: false });
    const call = { serverAddress: 'bank.example', serverPort: 443 };
    activity.emit('bankCallEnded', { ...call, target: 'accounts', status: 200, ms: 200, code: null });
    activity.emit('bankCallEnded', { ...call, target: 'token', status: null, ms: 250, code: 'bank-timeout' });
    status.ageMs = 12_900;
    clock.advance(10_000);
    const present = history.present;
    expect(history.points).toEqual([]);
    history.endPoint();
    clock.advance(10_000);
    status.ageMs = null;
    history.endPoint();
    const [first, second] = history.points;
    expect(first).toEqual(present);
    expect(first).toMatchObject({ requests: 104, current: 100, stale: 1, errors: 1, bankCalls: 2, bankFailures: 1 });
    expect(first).toMatchObject({ snapshotAgeSeconds: 12, failuresByOwner: { bank: 1 } });
    expectWithin8Percent(first?.p50Ms, 48);
    expectWithin8Percent(first?.p99Ms, 99);
    expectWithin8Percent(first?.bankP50Ms, 200);
    expect(second).toEqual({
      at: new Date(clock.now().wall).toISOString(),
      requests: 0,
      current: 0,
      stale: 0,
      errors: 0,
      failuresByOwner: {},
      p50Ms: null,
      p99Ms: null,
      bankCalls: 0,
      bankFailures: 0,
      bankP50Ms: null,
      snapshotAgeSeconds: null,
    });
  });

  it('has a point every 10 s, from the start of the app to its stop', () => {
    jest.useFakeTimers();
    const { history } = createHistory();
    history.onApplicationBootstrap();
    jest.advanceTimersByTime(60_000);
    expect(history.points).toHaveLength(6);
    history.onModuleDestroy();
    jest.advanceTimersByTime(60_000);
    expect(history.points).toHaveLength(6);
    jest.useRealTimers();
  });

  it('keeps 360 points, oldest first', () => {
    const { clock, history } = createHistory();
    const times: string[] = [];
    for (let count = 0; count < 400; count += 1) {
      clock.advance(10_000);
      history.endPoint();
      times.push(new Date(clock.now().wall).toISOString());
    }
    expect(history.points.map(({ at }) => at)).toEqual(times.slice(40));
  });
});

describe('the callers', () => {
  it('are listed by name, busiest first, with their results in the last minute', () => {
    const { clock, callers, request, advance } = createHistory();
    request(9, { clientName: 'treasury' });
    advance(30_000);
    for (let call = 0; call < 99; call += 1) request(4, { clientName: 'portal' });
    request(300, { clientName: 'portal', status: 503 });
    request(9, { clientName: 'treasury', cache: 'stale' });
    request(9, { clientName: 'treasury', status: 404 });
    advance(20_000);
    request(1, {});
    request(1, { clientName: 'console', isOwnPage: true });
    request(1, { clientName: 'prober', isCall: false });
    const at = (ms: number) => new Date(clock.now().wall - ms).toISOString();
    expect(callers.clients).toMatchObject([
      { name: 'portal', callsPerMinute: 100, current: 99, stale: 0, errors: 1, lastAt: at(20_000) },
      { name: 'treasury', callsPerMinute: 3, current: 1, stale: 1, errors: 0, lastAt: at(20_000) },
      { name: 'none', callsPerMinute: 1, current: 1, lastAt: at(0) },
    ]);
    const [portal] = callers.clients;
    expect(Math.abs((portal?.p99Ms ?? NaN) - 4)).toBeLessThan(0.4);
    advance(10_000);
    expect(callers.clients[1]).toMatchObject({ name: 'treasury', callsPerMinute: 2, current: 0 });
  });

  it('are forgotten after an hour without a call', () => {
    const { clock, callers, request, advance } = createHistory();
    request(9, { clientName: 'nightly' });
    advance(3_600_000);
    expect(callers.clients).toMatchObject([{ name: 'nightly', callsPerMinute: 0, p99Ms: null, current: 0 }]);
    clock.advance(1);
    expect(callers.clients).toEqual([]);
  });

  it('still count as other an hour after the start', () => {
    const { callers, request, advance } = createHistory();
    advance(3_660_000);
    request(1, { clientName: 'not a name' });
    expect(callers.clients).toMatchObject([{ name: 'other', callsPerMinute: 1 }]);
  });

  it('have no calls of the last minute after a sleep of the machine, in which no timer ran', () => {
    const { clock, callers, request } = createHistory();
    request(9);
    expect(callers.clients).toMatchObject([{ callsPerMinute: 1 }]);
    clock.advance(60_000);
    expect(callers.clients).toMatchObject([{ callsPerMinute: 0 }]);
  });

  it('are the 50 names that called last; a name with many digits counts as other', () => {
    const { clock, callers, request } = createHistory();
    request(1, { clientName: 'DK5000400440116243' });
    for (let app = 0; app < 80; app += 1) {
      clock.advance(1);
      request(1, { clientName: `app-${app}` });
      request(1, { clientName: 'treasury' });
    }
    const names = callers.clients.map(({ name }) => name);
    expect(names).toHaveLength(51);
    expect(callers.clients[0]).toMatchObject({ name: 'treasury', callsPerMinute: 80 });
    expect(names).toEqual(expect.arrayContaining(['other', 'app-31', 'app-79']));
    expect(names).not.toContain('app-30');
  });

  it.each([
    ['another route', { route: '/health', isCall: false }],
    ['no route', { route: undefined, isCall: false }],
    ['a rejected address', { problem: { code: 'client-not-allowed', owner: 'caller' } }],
  ])('are not displaced by new names on %s', (_where, change) => {
    const { callers, request } = createHistory();
    request(1, { clientName: 'treasury' });
    for (let app = 0; app < 60; app += 1) request(1, { clientName: `app-${app}`, ...change });
    request(1, { clientName: 'treasury', ...change });
    expect(callers.requests).toContainEqual({ name: 'treasury', requests: 2 });
    expect(callers.requests).toContainEqual({ name: 'other', requests: 60 });
  });

  it('include an app that is called console', () => {
    const { callers, request } = createHistory();
    request(1, { clientName: 'console' });
    expect(callers.clients).toMatchObject([{ name: 'console', callsPerMinute: 1 }]);
  });

  it.each([0, 0.01, 0.7, 12, 950, 59_000, 1e9])('have a p99 near the real duration: %d ms', (ms) => {
    const calls = new CallTally();
    calls.record({ ms, got: 'current' });
    const p99Ms = calls.percentileMs(99);
    const [least, most] = [Math.min(Math.max(ms, 0.001), 60_000) * 0.92, Math.max(ms, 0.001) * 1.08];
    expect(p99Ms).toBeGreaterThanOrEqual(least);
    expect(p99Ms).toBeLessThanOrEqual(most);
  });

  it('have the sums of present and the last five points, also after five minutes', () => {
    const { clock, callers, history, request } = createHistory();
    for (let second = 0; second < 300; second += 1) {
      if (second % 10 === 0) history.endPoint();
      clock.advance(1000);
      request(1, { cache: 'stale', clientName: `app-${second % 2 ? 'a' : 'b'}` });
    }
    const points = [...history.points.slice(-5), history.present];
    expect(points.map(({ stale }) => stale)).toEqual([10, 10, 10, 10, 10, 10]);
    const each = { callsPerMinute: 30, stale: 30, current: 0 };
    expect(callers.clients).toMatchObject([
      { name: 'app-a', ...each },
      { name: 'app-b', ...each },
    ]);
  });
});

describe('the last events', () => {
  function createEvents() {
    const { log, logger } = keepLines();
    const clock = new FakeClock();
    return { logger, clock, events: new RecentEvents(log, clock) };
  }

  it('are events beyond normal operation, with only code and owner', () => {
    const { logger, clock, events } = createEvents();
    logger.info({ event: 'request', code: 'bank-timeout' }, 'request');
    logger.warn({ event: 'bank.unavailable', code: 'bank-unreachable', owner: 'bank', work: 'x' }, 'it is away');
    logger.error({ event: 'certificate.refused', file: '/file' }, 'refused');
    logger.warn('no event');
    logger.error(new Error('none'));
    const at = new Date(clock.now().wall).toISOString();
    expect(events.events).toEqual([
      { at, level: 'warn', event: 'bank.unavailable', code: 'bank-unreachable', owner: 'bank', msg: 'it is away' },
      { at, level: 'error', event: 'certificate.refused', msg: 'refused' },
    ]);
  });

  it.each(['error', 'fatal', 'silent'])('are kept even if they are not logged, here with LOG_LEVEL=%s', (level) => {
    const written: string[] = [];
    const log = new Log({ level, pretty: false, destination: { write: (line) => void written.push(line) } });
    const events = new RecentEvents(log, new FakeClock());
    const { logger } = log;
    logger.warn({ event: 'bank.unavailable' }, 'the bank cannot be used');
    logger.info({ event: 'bank.recovered' }, 'the bank can be used again');
    expect(events.events.map(({ event }) => event)).toEqual(['bank.unavailable', 'bank.recovered']);
    expect(written).toEqual([]);
  });

  it('are at most 200, oldest first', () => {
    const { logger, events } = createEvents();
    for (let count = 0; count < 250; count += 1) logger.warn({ event: 'snapshot.failed' }, `failure ${count}`);
    expect(events.events).toHaveLength(200);
    expect(events.events.at(-1)).toMatchObject({ msg: 'failure 249' });
  });
});
