import { setTimeout as delay } from 'node:timers/promises';
import { digits, median, percentile, toTable, whole } from '../figures.mjs';

/** Thirty-three times as fast as the defaults, and so is the life of the token. */
const SIMULATED = {
  freshMs: 300,
  maxAgeMs: 300_000,
  softTimeoutMs: 2000,
  readTimeoutMs: 30_000,
  requestDeadlineMs: 15_000,
  maxRequestsWaiting: 1000,
};
const TOKEN_LIFETIME_MS = 9000;
const LATENCY_MS = 50;
const CALL_EVERY_MS = 20;
/** Those that were served from memory took less. */
const WAITED_MS = 5;

/** The calls of 1 to 100 instances within this process at a bank that counts, and those of one without Redis. */
export async function simulatedFleets(bench, redis, instances) {
  const periods = bench.quick ? 15 : 30;
  const bytes = await instances.toSnapshotBytes(bench.bank, 50);
  const rows = [];
  for (const count of [0, 1, 3, 10, 30, 100]) {
    await redis.empty();
    const row = await simulate(instances, { redis, count, periods, bytes });
    rows.push(row);
    bench.say(`  simulated ${row.name}: ${row.tokens} tokens, ${row.readings} readings, p99 ${row.p99.toFixed(0)} ms`);
  }
  return {
    table: [
      `Fleet, simulated: ${SIMULATED.freshMs} ms fresh, tokens of ${TOKEN_LIFETIME_MS / 1000} s, a bank of ${LATENCY_MS} ms, a call every ${CALL_EVERY_MS} ms at each instance, ${periods} periods`,
      toTable(
        [
          'instances',
          'token requests',
          'readings',
          'readings a period',
          'commands of an instance a period',
          'run by Redis a second',
          'CPU of Redis',
          'median of those waiting',
          'p99 of all',
          'added',
          'thread busy',
        ],
        rows.map((row) => [
          row.name,
          String(row.tokens),
          String(row.readings),
          digits(row.readings / row.periods, 2),
          digits(row.commands, 1),
          whole(row.redisCommands),
          `${digits(row.redisShare * 100, 1)} %`,
          `${whole(row.medianOfWaiting)} ms`,
          `${whole(row.p99)} ms`,
          `${whole(row.p99 - rows[0].p99)} ms`,
          `${whole(row.busy * 100)} %`,
        ]),
      ),
    ],
    goals: [
      {
        goal: 'fleet of 1 to 100, simulated: one reading for each period of freshness',
        measured: `at most ${digits(Math.max(...rows.map(({ readings, periods }) => readings / periods)), 2)}`,
        // one more where the time that is looked at begins just before one
        reached: rows.every(({ readings, periods }) => readings <= periods + 1),
        disturbed: false,
      },
    ],
    raw: rows,
  };
}

/** Callers at even distances at each of `count` instances; 0 stands for one without Redis. */
async function simulate(instances, { redis, count, periods, bytes }) {
  const bank = instances.createBank({ latencyMs: LATENCY_MS, tokenLifetimeMs: TOKEN_LIFETIME_MS, bytes });
  const material = instances.createMaterial();
  const redisUrl = count > 0 ? redis.url : null;
  const size = Math.max(1, count);
  const all = await Promise.all(
    Array.from({ length: size }, () => instances.startInstance({ redisUrl, bank, material, settings: SIMULATED })),
  );
  // the first reading, and code that runs for the first time, are not what is measured
  await Promise.all(all.map((one) => one.get()));
  await callAll(all, SIMULATED.freshMs * 3);
  const look = async () => [instances.sent(), await redis.cpuMs(), await redis.commands(), bank.readings];
  const before = await look();
  const [startedAt, busyBefore] = [performance.now(), performance.eventLoopUtilization()];
  const waits = await callAll(all, SIMULATED.freshMs * periods);
  const seconds = (performance.now() - startedAt) / 1000;
  const busy = performance.eventLoopUtilization(busyBefore).utilization;
  const [sent, cpuMs, redisCommands, readings] = (await look()).map((figure, index) => figure - before[index]);
  await Promise.all(all.map((one) => one.close()));
  return {
    name: count === 0 ? '1 without Redis' : String(count),
    // with what the last callers waited for
    periods: (seconds * 1000) / SIMULATED.freshMs,
    tokens: bank.tokens,
    readings,
    commands: (sent / size / seconds / 1000) * SIMULATED.freshMs,
    redisCommands: redisCommands / seconds,
    redisShare: cpuMs / 1000 / seconds,
    busy,
    medianOfWaiting: median(waits.filter((ms) => ms > WAITED_MS)),
    p99: percentile(waits, 0.99),
    longest: Math.max(...waits),
    calls: waits.length,
  };
}

/** How long each caller waited, ms, from when they came. */
async function callAll(all, forMs) {
  const waits = [];
  const startedAt = performance.now();
  await Promise.all(
    all.map(async (one, index) => {
      const pending = [];
      const first = startedAt + (CALL_EVERY_MS * index) / all.length;
      for (let due = first; due < startedAt + forMs; due += CALL_EVERY_MS) {
        const untilDue = due - performance.now();
        if (untilDue > 0) await delay(untilDue);
        const cameAt = performance.now();
        pending.push(one.get().then(() => waits.push(performance.now() - cameAt)));
      }
      await Promise.all(pending);
    }),
  );
  return waits;
}
