import { setTimeout as delay } from 'node:timers/promises';
import { openConnections, steady } from '../callers.mjs';
import { toTable } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { loadInstances } from '../instances.mjs';
import { JSON_ONLY } from '../ready-answers.mjs';
import { redisMissing, startRedis } from '../redis.mjs';
import { sharingCost } from './sharing-cost.mjs';
import { simulatedFleets } from './simulated-fleets.mjs';

const REQUESTS = 1000;

/** What several instances cost the bank, Redis, their callers, and each other (docs/fleet.md#sizing). */
export async function fleet(bench) {
  const missing = redisMissing();
  if (missing) return { goals: [], missing: [missing] };
  const redis = await startRedis(bench);
  try {
    const instances = await loadInstances(bench.root);
    const parts = [
      await fleetsOfProcesses(bench, redis),
      await simulatedFleets(bench, redis, instances),
      await sharingCost(bench, redis, instances),
    ];
    return {
      tables: parts.map(({ table }) => table),
      goals: parts.flatMap(({ goals = [] }) => goals),
      raw: parts.map(({ raw }) => raw),
    };
  } finally {
    await redis.stop();
  }
}

async function fleetsOfProcesses(bench, redis) {
  const { quick, say } = bench;
  const faster = quick ? 20 : 10;
  const rows = [];
  for (const [count, alone] of [
    [1, false],
    [2, false],
    [4, false],
    [4, true],
  ]) {
    const name = alone ? `${count} without Redis` : String(count);
    const { tokens, readings, lateMs } = await oneFleet(bench, redis, { count, alone, faster });
    rows.push({ name, alone, tokens, readings, lateMs });
    say(`  ${name}: ${tokens} token requests, ${readings} readings`);
  }
  const sharing = rows.filter(({ alone }) => !alone);
  const most = (figure) => Math.max(...sharing.map((row) => row[figure]));
  return {
    table: [
      `Fleet, real processes: ${REQUESTS} requests spread over 60 s (run in ${60 / faster} s, fresh for ${10 / faster} s)`,
      toTable(
        ['instances', 'token requests', 'readings'],
        rows.map(({ name, tokens, readings }) => [name, String(tokens), String(readings)]),
      ),
    ],
    goals: [
      {
        goal: `fleet of 1, 2, 4: one token request, ≤ 6 readings for ${REQUESTS} requests over 60 s`,
        measured: `${most('tokens')} token request, ${most('readings')} readings`,
        reached: most('tokens') === 1 && most('readings') <= 6,
        // as in the cell of one instance
        disturbed: most('lateMs') > 3000 / faster,
      },
    ],
    raw: rows,
  };
}

async function oneFleet(bench, redis, { count, alone, faster }) {
  const { bank } = bench;
  await redis.empty();
  await bank.set({ accounts: 120, latencyMs: 20 });
  const before = (await bank.state()).tokensIssued;
  const settings = { SNAPSHOT_FRESH_MS: String(10_000 / faster), ...(!alone && { REDIS_URL: redis.url }) };
  const gateways = await Promise.all(Array.from({ length: count }, () => startGateway({ ...bench, settings })));
  await Promise.all(gateways.map((gateway) => gateway.settled()));
  const since = new Date().toISOString();
  const everyMs = (60_000 / faster / REQUESTS) * count;
  const each = gateways.map(async (gateway, index) => {
    const agent = await openConnections(`${gateway.url}/health/live`, 4);
    await delay((everyMs / count) * index);
    const results = await steady(gateway.accountsUrl, {
      everyMs,
      count: Math.ceil(REQUESTS / count),
      headers: JSON_ONLY,
      agent,
    });
    agent.destroy();
    return results;
  });
  const results = (await Promise.all(each)).flat();
  const wrong = results.find(({ status }) => status !== 200);
  if (wrong) throw new Error(`fleet of ${count}: a caller got ${wrong.status}`);
  const { requests, tokensIssued } = await bank.state();
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  return {
    tokens: tokensIssued - before,
    readings: requests.filter(({ at, endpoint }) => endpoint === 'accounts' && at >= since).length,
    lateMs: Math.max(...results.map(({ lateMs }) => lateMs)),
  };
}
