import { setTimeout as delay } from 'node:timers/promises';
import { get, openConnections, steady } from '../callers.mjs';
import { digits, median, percentile, whole } from '../figures.mjs';
import { COUNTS_AS_NOW_MS, startGateway } from '../gateway.mjs';
import { memoryOf } from '../machine.mjs';
import { JSON_ONLY } from '../ready-responses.mjs';
import { startBareClient } from '../rivals.mjs';

const PAGE_SIZE = 1000;
const CONNECTIONS = 32;
const EVERY_MS = 5;
/** V8 returns the memory of an ended thread after some seconds. */
const IDLE_MS = 10_000;
// so that only `no-cache` calls the bank
const SETTINGS = { SNAPSHOT_FRESH_MS: '300000', REQUEST_DEADLINE_MS: '60000' };
const SORTS = ['-current', 'name', '-openedAt', 'currency', '-name', 'status', 'openedAt', 'current'];

/** Complete refreshes of 10 000 accounts with a bank latency of 50 ms, compared with the bare client. */
export async function refresh(bench) {
  const count = 10_000;
  const samples = await eachStart({ ...bench, accounts: count, latencyMs: 50 }, async (pair, gateway) => ({
    ratio: await pair(),
    ...(await queries(gateway, count, bench.quick)),
  }));
  return {
    goals: [
      ratioGoal('10 000 accounts: a refresh', samples, 2.5),
      limitGoal('10 000 accounts: a new query (median)', samples, 'query', 'ms', 5),
      limitGoal('10 000 accounts: a new query during a refresh', samples, 'queryMeanwhile', 'ms', 20),
    ],
    raw: samples,
  };
}

/** 100 000 accounts: refresh time, memory, the latency of other callers during a refresh, and uncached queries. */
export async function large(bench) {
  const samples = await eachStart({ ...bench, accounts: 100_000, latencyMs: 20 }, async (pair, gateway) => {
    const ratio = await pair();
    await readNow(gateway, 100_000);
    await delay(IDLE_MS);
    const { now: memory, peak } = memoryOf(gateway.program.pid);
    const others = await othersDuring(gateway, readNow(gateway, 100_000));
    await delay(COUNTS_AS_NOW_MS + 2500);
    return { ratio, memory, peak, others, ...(await queries(gateway, 100_000, bench.quick)) };
  });
  return {
    goals: [
      ratioGoal('100 000 accounts: a refresh', samples, 5),
      limitGoal('100 000 accounts: resident memory after four refreshes, 10 s later', samples, 'memory', 'MB', 500),
      limitGoal('100 000 accounts: its peak', samples, 'peak', 'MB', 600),
      limitGoal("100 000 accounts: others' p99 during a refresh", samples, 'others', 'ms', 8),
      limitGoal('100 000 accounts: a new query (median)', samples, 'query', 'ms', 70),
      limitGoal('100 000 accounts: a new query during a refresh', samples, 'queryMeanwhile', 'ms', 350),
    ],
    raw: samples,
  };
}

/** Median duration of uncached queries, ms, when idle and during refreshes. */
async function queries(gateway, accounts, quick) {
  const query = median(await newQueries(gateway, quick ? 15 : 30));
  const meanwhile = [];
  for (let round = 0; round < (quick ? 2 : 4); round++) {
    await delay(COUNTS_AS_NOW_MS + 2500);
    let running = true;
    const refresh = readNow(gateway, accounts).finally(() => (running = false));
    while (running) meanwhile.push(...(await newQueries(gateway, 1, 40 + meanwhile.length)));
    await refresh;
  }
  return { query, queryMeanwhile: median(meanwhile) };
}

function limitGoal(text, samples, figure, unit, limit) {
  const value = median(samples.map((sample) => sample[figure]));
  return { goal: `${text} ≤ ${limit} ${unit}`, measured: `${digits(value, 1)} ${unit}`, reached: value <= limit };
}

/**
 * Starts the gateway and the bare client several times, and calls `work` for each start. `pair` measures three
 * refreshes of each, alternating.
 */
async function eachStart(shared, work) {
  const bench = { ...shared, onPair: true };
  const { bank, say, starts, accounts, latencyMs } = bench;
  await bank.set({ accounts, latencyMs });
  const samples = [];
  for (let start = 0; start < starts; start++) {
    const client = startBareClient(bench);
    // the first read makes the sandbox create its accounts
    say(`  bare client ${Math.round(await client.read(PAGE_SIZE))} ms`);
    const gateway = await startGateway({ ...bench, settings: SETTINGS });
    await gateway.settled();
    say('  gateway has the list');
    const times = [];
    const pair = async () => {
      for (let round = 0; round < 3; round++) {
        const [ours, bare] = [await readNow(gateway, accounts), await client.read(PAGE_SIZE)];
        times.push({ ours, bare });
        await delay(COUNTS_AS_NOW_MS + 100);
      }
      return median(times.map(({ ours, bare }) => ours / bare));
    };
    samples.push({ ...(await work(pair, gateway)), times });
    say(`  start ${start + 1} of ${starts}: ${JSON.stringify(samples.at(-1))}`);
    await Promise.all([client.stop(), gateway.stop()]);
  }
  await bank.set({ accounts: 120, latencyMs: 0 });
  return samples;
}

function ratioGoal(text, samples, limit) {
  const ratio = median(samples.map((sample) => sample.ratio));
  const times = samples.flatMap((sample) => sample.times);
  const middle = (whose) => whole(median(times.map((each) => each[whose])));
  return {
    goal: `${text} ≤ ${limit} × the bare client`,
    measured: `${digits(ratio, 2)} (${middle('ours')} ms : ${middle('bare')} ms)`,
    reached: ratio <= limit,
  };
}

/** Duration of a `no-cache` call, ms. Fails unless the list has `accounts` accounts. */
async function readNow(gateway, accounts) {
  const { status, text, ms } = await get(gateway.accountsUrl, { ...JSON_ONLY, 'cache-control': 'no-cache' });
  const total = status === 200 ? JSON.parse(text).page.total : null;
  if (total !== accounts) throw new Error(`a refresh of ${accounts}: ${status}, ${total} accounts`);
  return ms;
}

/** The p99 of callers that call every 5 ms over kept connections while `running` runs. */
async function othersDuring(gateway, running) {
  const agent = await openConnections(gateway.accountsUrl, CONNECTIONS, JSON_ONLY);
  const end = new AbortController();
  const options = { everyMs: EVERY_MS, agent, signal: end.signal, headers: JSON_ONLY };
  const [callers] = await Promise.all([steady(gateway.accountsUrl, options), running.finally(() => end.abort())]);
  agent.destroy();
  const wrong = callers.find(({ status }) => status !== 200);
  if (wrong) throw new Error(`a caller during a refresh got ${wrong.status}`);
  return percentile(
    callers.map(({ ms }) => ms),
    0.99,
  );
}

/** Durations of distinct queries, ms: a word of a name or some digits of an IBAN, with varying sort orders. */
async function newQueries(gateway, count, from = 0) {
  const times = [];
  for (let index = from; index < from + count; index++) {
    const example = await get(
      `${gateway.accountsUrl}?pageSize=1&pageNumber=${((index * 1601 + 7) % 9999) + 1}`,
      JSON_ONLY,
    );
    const [{ name, id, ibans }] = JSON.parse(example.text).accounts;
    const word = index % 2 === 0 ? name.split(/\s/)[0].slice(0, 12) : (ibans[0] ?? id).slice(-5, -1);
    const status = index % 3 === 0 ? '&status=Active' : '';
    const query = `q=${encodeURIComponent(word)}&sort=${SORTS[index % SORTS.length]}&pageSize=${50 + index}${status}`;
    const response = await get(`${gateway.accountsUrl}?${query}`, JSON_ONLY);
    if (response.status !== 200) throw new Error(`${query}: ${response.status}`);
    times.push(response.ms);
  }
  return times;
}
