import { toGatewayError } from '../../src/problems/gateway-error.js';
import { PROBLEMS, type Owner, type ProblemCode } from '../../src/problems/problem-table.js';
import { ANY, type Freshness } from '../../src/snapshot/freshness.js';
import { Alerts, SCRAPE_EVERY_MS } from './alerts.js';
import { BankModel } from './bank-model.js';
import { planMonth, toDraw, toLocal, toTime } from './odd-days.js';
import { SimulatedGateway } from './simulated-gateway.js';
import { VirtualTime } from './virtual-time.js';

const MINUTE_MS = 60_000;
/** Web apps: two pages are open on weekdays from 8 to 18, and ask every 10 s. */
const PAGES = { count: 2, everyMs: 10_000, opens: 8 * 60, closes: 18 * 60 };
/** A job at 02:30 wants data that is at most a minute old. It tries every 5 minutes, for an hour. */
const EXPORT = { at: 2 * 60 + 30, wanted: { ...ANY, maxAge: 60 }, everyMs: 5 * MINUTE_MS, tries: 12 };
const PROBE_EVERY_MS = 10_000;
/** Silences of announced windows end so much later. */
const SILENCED_AFTER_MS = 5 * MINUTE_MS;

/** Minutes with at least one: stale response, failed call, probe answered 503 (in an announced window, or not). */
type Minutes = 'stale' | 'failed' | 'notReady' | 'notReadyAnnounced';

/** Plays the first days of the month of this seed in this process, whose timers it takes over. */
export async function playMonth(seed: number, count: number) {
  const draw = toDraw(seed);
  const events = planMonth(draw);
  const time = new VirtualTime(toTime(1, 0));
  time.replaceTimers();
  // the jitter of back-off, renewal and retries
  Math.random = () => draw(0, 999_999) / 1_000_000;

  const days = Array.from({ length: count }, (_, index) => toDay(index + 1));
  const minutes = new Set<string>();
  const today = () => days[toLocal(time.trueMs).day - 1] ?? toDay(0);
  const mark = (kind: Minutes) => {
    const minute = `${kind} ${Math.floor(time.trueMs / MINUTE_MS)}`;
    if (!minutes.has(minute)) today()[kind] += 1;
    minutes.add(minute);
  };
  const counters: Record<string, number> = {};
  const add = (...names: string[]) => names.forEach((name) => (counters[name] = (counters[name] ?? 0) + 1));
  let owner: Owner = 'bank';

  const bank = new BankModel(events, time, draw, (target, ms) => {
    today()[target === 'token' ? 'token' : 'list'] += 1;
    if (target === 'token') return;
    add('list', ...(ms > 3000 ? ['list over 3 s'] : []));
    if (ms > 1000) owner = 'bank';
  });
  const gateway = new SimulatedGateway(time, bank);
  const ended = (code: ProblemCode | null) => {
    if (code) owner = PROBLEMS[code].owner;
    add(`ended ${code ?? 'ok'}`);
  };
  gateway.activity.on('tokenRequestEnded', ({ code }) => ended(code));
  gateway.activity.on('refreshEnded', ({ code }) => {
    ended(code);
    add('refresh', `refresh ${code ?? 'ok'}`);
  });

  const isAnnounced = () =>
    events.some(({ announced, from, until }) => {
      return announced && from <= time.trueMs && time.trueMs < until + SILENCED_AFTER_MS;
    });
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
  const exports = { atOnce: 0, late: 0, failed: 0 };
  const exportAccounts = async () => {
    for (let tries = 1; tries <= EXPORT.tries; tries++) {
      if (await call(EXPORT.wanted)) return void (exports[tries === 1 ? 'atOnce' : 'late'] += 1);
      await time.wait(EXPORT.everyMs);
    }
    exports.failed += 1;
  };
  const probe = async () => {
    void gateway.prove();
    if (!(await gateway.readiness.check())) mark(isAnnounced() ? 'notReadyAnnounced' : 'notReady');
  };
  const alerts = new Alerts();
  const scrape = () => {
    const { stale, callersWaiting } = gateway.snapshots.status();
    const { refused: certificateRefused, certificateEndsInMs, readiness } = gateway;
    const gauges = { ready: readiness.ready, stale, callersWaiting, certificateEndsInMs, certificateRefused };
    alerts.scrape({ ...gauges, owner, counters: { ...counters } }, today().day, isAnnounced());
  };
  const done = new Set<object>();
  const eachMinute = () => {
    const { trueMs: now } = time;
    time.wallErrorMs =
      events.find(({ kind, from, until }) => kind === 'clock' && from <= now && now < until)?.value ?? 0;
    for (const event of events) {
      const { kind, from, until } = event;
      if (done.has(event) || now < (kind === 'password' ? until : from)) continue;
      done.add(event);
      if (!event.announced) today().odd.push(kind);
      if (kind === 'sleep') time.sleep(until - from);
      if (kind === 'password' || kind === 'certificate') gateway.change({ [kind]: 1 });
    }
    if (toLocal(now).minute === EXPORT.at) void exportAccounts();
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
  await time.runUntil(toTime(count + 1, 0));
  return { seed, days, alerts: alerts.fired, exports, counters, misuse: bank.misuse };
}

const toDay = (day: number) => ({
  day,
  token: 0,
  list: 0,
  stale: 0,
  failed: 0,
  notReady: 0,
  notReadyAnnounced: 0,
  odd: [] as string[],
});

export type Month = Awaited<ReturnType<typeof playMonth>>;
