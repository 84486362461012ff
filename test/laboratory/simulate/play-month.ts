import { toFailureSeries } from '../../../src/operations/status/gateway-status.js';
import { isReady } from '../../../src/operations/status/readiness.js';
import { toGatewayError, type GatewayError } from '../../../src/errors/gateway-error.js';
import type { Owner } from '../../../src/errors/problem-table.js';
import { ANY, type Freshness } from '../../../src/cache/freshness.js';
import { Alerts, SCRAPE_EVERY_MS } from './alerts.js';
import { planMonth, toDraw, toLocal, toTime } from './odd-days.js';
import { SimulatedGateway } from './simulated-gateway.js';
import { VirtualTime } from './virtual-time.js';

const MINUTE_MS = 60_000;
/** Two pages are open on weekdays from 8 to 18, and poll every 10 s. */
const PAGES = { count: 2, everyMs: 10_000, opens: 8 * 60, closes: 18 * 60 };
/** An export at 02:30 needs data that is at most a minute old. It retries every 5 minutes, for an hour. */
const EXPORT = {
  at: 2 * 60 + 30,
  wanted: { ...ANY, maxAgeMs: MINUTE_MS, maxStaleAgeMs: MINUTE_MS },
  everyMs: 5 * MINUTE_MS,
  tries: 12,
};
const PROBE_EVERY_MS = 10_000;
/** Silences end this long after the announced windows. */
const SILENCED_AFTER_MS = 5 * MINUTE_MS;

/** Simulates the first days of the month of a seed. Replaces the timers of this process. */
export async function playMonth(seed: number, days: number) {
  const draw = toDraw(seed);
  const plan = planMonth(draw);
  const time = new VirtualTime(toTime(1, 0));
  time.replaceTimers();
  // seeds the jitter of back-off, renewal and retries
  Math.random = () => draw(0, 999_999) / 1_000_000;

  const counters: Record<string, number> = {};
  const add = (...names: string[]) => names.forEach((name) => (counters[name] = (counters[name] ?? 0) + 1));
  const lastMarked: Record<string, number> = {};
  /** Counts the current minute, once per kind. */
  const mark = (kind: 'stale' | 'failed' | 'not ready' | 'not ready, announced') => {
    const minute = Math.floor(time.trueMs / MINUTE_MS);
    if (lastMarked[kind] !== minute) add(`minutes ${kind}`);
    lastMarked[kind] = minute;
  };

  const gateway = new SimulatedGateway(time, plan, draw);
  const noCalls = () => Array.from({ length: days }, () => 0);
  /** Calls to the bank, by day. */
  const calls = { token: noCalls(), accounts: noCalls() };
  let owner: Owner = 'bank';
  gateway.activity.on('bankCallEnded', ({ target, ms, code }) => {
    const { day } = toLocal(time.trueMs);
    if (day <= days) calls[target][day - 1] = (calls[target][day - 1] ?? 0) + 1;
    if (target === 'token') return;
    if (code === null) add('list', ...(ms > 3000 ? ['list over 3 s'] : []));
    if (ms > 1000) owner = 'bank';
  });
  const onEnd = ({ error }: { error: GatewayError | null }) => {
    if (error) owner = error.owner;
    add(`ended ${error?.code ?? 'ok'}`);
  };
  gateway.activity.on('tokenRequestEnded', onEnd).on('refreshEnded', onEnd);

  const isAnnounced = () =>
    [time.trueMs, time.trueMs - SILENCED_AFTER_MS].some((at) => plan.during('window', at) !== undefined);
  const call = async (wanted: Freshness): Promise<boolean> => {
    try {
      const { stale } = await gateway.snapshots.get(wanted);
      add('responses', ...(stale ? ['stale'] : []));
      if (stale) mark('stale');
      return true;
    } catch (error) {
      ({ owner } = toGatewayError(error));
      add('errors');
      mark('failed');
      return false;
    }
  };
  const keepPageOpen = async () => {
    await time.wait(draw(0, PAGES.everyMs));
    for (;;) {
      const { minute, weekend } = toLocal(time.trueMs);
      const open = !weekend && minute >= PAGES.opens && minute < PAGES.closes;
      if (open) await call(ANY);
      await time.wait(open ? PAGES.everyMs : MINUTE_MS);
    }
  };
  const exportAccounts = async () => {
    for (let tries = 1; tries <= EXPORT.tries; tries++) {
      if (await call(EXPORT.wanted)) return add(tries === 1 ? 'exports at once' : 'exports late');
      await time.wait(EXPORT.everyMs);
    }
    add('exports failed');
  };
  const probe = async () => {
    void gateway.prove();
    if (!isReady(await gateway.readiness.facts())) mark(isAnnounced() ? 'not ready, announced' : 'not ready');
  };
  const alerts = new Alerts();
  const scrape = () => {
    const facts = gateway.status.read();
    const gauges = {
      ready: Number(isReady(facts)),
      'circuit closed': Number(toFailureSeries(facts).circuit === 'closed'),
      'snapshot stale': Number(facts.snapshot.stale),
      accounts: facts.snapshot.accounts ?? NaN,
      'certificate ends in ms': gateway.certificateEndsInMs,
      'certificate rejected': Number(gateway.rejected),
    };
    alerts.scrape({ owner, values: { ...counters, ...gauges } }, isAnnounced());
  };
  const eachMinute = () => {
    const sleep = plan.during('sleep', time.trueMs);
    if (sleep) time.sleep(sleep.until - time.trueMs);
    time.wallErrorMs = plan.during('clock', time.trueMs)?.value ?? 0;
    if (toLocal(time.trueMs).minute === EXPORT.at) void exportAccounts();
  };
  const every = (ms: number, run: () => unknown) =>
    time.after(ms, () => {
      run();
      every(ms, run);
    });
  every(MINUTE_MS, eachMinute);
  every(SCRAPE_EVERY_MS, scrape);
  every(PROBE_EVERY_MS, probe);
  for (let page = 0; page < PAGES.count; page++) void keepPageOpen();
  await time.runUntil(toTime(days + 1, 0));
  const odd = plan.events.filter(({ from }) => from < time.trueMs).map(({ kind }) => kind);
  return { calls, counters, odd, alerts: alerts.fired, misuse: gateway.misuse };
}

export type Month = Awaited<ReturnType<typeof playMonth>>;
