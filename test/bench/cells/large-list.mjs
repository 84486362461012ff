import { setTimeout as delay } from 'node:timers/promises';
import { get, openConnections, steady } from '../callers.mjs';
import { digits, median, percentile, whole } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { memoryOf } from '../machine.mjs';
import { JSON_ONLY } from '../ready-answers.mjs';
import { startBareClient } from '../rivals.mjs';
import { compareReadings, judgeReadings, readNow } from './readings.mjs';

const ACCOUNTS = 100_000;
const PAGE_SIZE = 1000;
const LATENCY_MS = 20;
const EVERY_MS = 5;
const CONNECTIONS = 32;

/** 100 000 accounts: readings, memory, other callers meanwhile, and pages nobody has asked for yet. */
export async function largeList(shared) {
  const bench = { ...shared, onPair: true };
  const { bank, say, quick } = bench;
  await bank.set({ accounts: ACCOUNTS, latencyMs: LATENCY_MS });
  // the sandbox makes accounts when they are first asked for; that is no matter of the gateway's
  const client = startBareClient(bench);
  await client.read(PAGE_SIZE);
  // fresh for so long that only no-cache asks the bank here
  const settings = { SNAPSHOT_FRESH_MS: '600000', REQUEST_DEADLINE_MS: '60000' };
  const gateway = await startGateway({ ...bench, settings });
  await gateway.settled();

  const order = { gateway, client, accounts: ACCOUNTS, pageSize: PAGE_SIZE, say };
  const results = await compareReadings({ ...order, rounds: 3 });
  const memory = memoryOf(gateway.program.pid);

  const agent = await openConnections(gateway.accountsUrl, CONNECTIONS, JSON_ONLY);
  const during = async (what, running) => {
    const callers = await calls(gateway, agent, running);
    const p99 = (figure) =>
      percentile(
        callers.map((caller) => caller[figure]),
        0.99,
      );
    const figures = { ms: p99('ms'), lateMs: p99('lateMs') };
    const longest = Math.max(...callers.map(({ ms }) => ms));
    say(`  others ${what}: p99 ${digits(figures.ms, 1)} ms, longest ${digits(longest, 0)} ms`);
    await delay(1500);
    return { ...figures, longest, count: callers.length };
  };
  const calm = await during('while nothing is read', delay(quick ? 1000 : 2000));
  const beside = [];
  const readings = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    beside.push(await during('while the bare client reads', client.read(PAGE_SIZE)));
    readings.push(await during('during a reading', readNow(gateway, ACCOUNTS)));
  }
  const peak = memoryOf(gateway.program.pid);
  agent.destroy();
  const unseen = await unseenPages(gateway, quick ? 30 : 60);
  const after = memoryOf(gateway.program.pid);
  await client.stop();
  await gateway.stop();
  await bank.set({ accounts: 120, latencyMs: 0 });

  const p99s = (all) => all.map(({ ms }) => digits(ms, 1)).join(', ');
  const p99 = median(readings.map(({ ms }) => ms));
  const middle = median(unseen.times);
  const { goal, note } = judgeReadings(results, `100 000 accounts, bank at ${LATENCY_MS} ms: a reading`, 3);
  return {
    notes: [
      `100 000 accounts: ${note}`,
      `100 000 accounts, resident memory: ${memory?.now} MB after the one at start and three more readings, at its highest until then ${memory?.peak} MB; with callers during further readings at its highest ${peak?.peak} MB; after ${unseen.times.length} unseen pages ${after?.now} MB.`,
      `Other callers, one every ${EVERY_MS} ms on ${CONNECTIONS} kept connections, for the list of 50: p99 ${digits(calm.ms, 1)} ms while nothing is read; ${p99s(beside)} ms while the bare client reads the same on the same cores, which is what this machine can give; ${p99s(readings)} ms during readings, longest ${digits(Math.max(...readings.map(({ longest }) => longest)), 0)} ms (of which the callers were late themselves: p99 ${readings.map(({ lateMs }) => digits(lateMs, 1)).join(', ')} ms).`,
      `Unseen pages: ?q=…&sort=…, every third with &status=Active; ${whole(Math.min(...unseen.matches))} to ${whole(Math.max(...unseen.matches))} matches, median ${whole(median(unseen.matches))}; longest ${digits(Math.max(...unseen.times), 1)} ms, first ${digits(unseen.times[0], 1)} ms.`,
    ],
    goals: [
      {
        goal: '100 000 accounts: resident memory after three readings ≤ 450 MB',
        measured: memory ? `${memory.now} MB` : 'not measured: no /proc',
        reached: memory ? memory.now <= 450 : null,
        disturbed: false,
      },
      {
        goal: `100 000 accounts: other callers' p99 during a reading ≤ 20 ms (${CONNECTIONS} kept connections)`,
        measured: `${digits(p99, 1)} ms`,
        reached: p99 <= 20,
      },
      goal,
      {
        goal: '100 000 accounts: a filtered, sorted page not seen before ≤ 10 ms median',
        measured: `${digits(middle, 1)} ms`,
        reached: middle <= 10,
      },
    ],
    raw: { results, memory, peak, after, calm, beside, readings, unseen },
  };
}

/** The callers who came while `running` ran. */
async function calls(gateway, agent, running) {
  const end = new AbortController();
  let endedAt = Infinity;
  const ended = running.finally(() => {
    endedAt = performance.now();
    end.abort();
  });
  const options = { everyMs: EVERY_MS, agent, signal: end.signal, headers: JSON_ONLY };
  const [results] = await Promise.all([steady(gateway.accountsUrl, options), ended]);
  const wrong = results.find(({ status }) => status !== 200);
  if (wrong) throw new Error(`a caller during a reading got ${wrong.status}`);
  return results.filter(({ due }) => due <= endedAt);
}

const SORTS = ['-current', 'name', '-openedAt', 'currency', '-name', 'status', 'openedAt', 'current'];

/**
 * Questions that no two are alike, as people ask them: a word of a name or some digits of an IBAN, in changing order, every
 * third for one status only.
 */
async function unseenPages(gateway, count) {
  const times = [];
  const matches = [];
  for (let index = 0; index < count; index++) {
    const query = await toQuestion(gateway, index);
    const { status, text, ms } = await get(`${gateway.accountsUrl}?${query}`, JSON_ONLY);
    if (status !== 200) throw new Error(`${query}: ${status}`);
    times.push(ms);
    matches.push(JSON.parse(text).page.total);
  }
  return { times, matches };
}

async function toQuestion(gateway, index) {
  const example = await get(`${gateway.accountsUrl}?pageSize=1&pageNumber=${index * 1601 + 7}`, JSON_ONLY);
  const [{ name, id, ibans }] = JSON.parse(example.text).accounts;
  const word = index % 2 === 0 ? name.split(/\s/)[0].slice(0, 12) : (ibans[0] ?? id).slice(-5, -1);
  const status = index % 3 === 0 ? '&status=Active' : '';
  return `q=${encodeURIComponent(word)}&sort=${SORTS[index % SORTS.length]}&pageSize=${50 + index}${status}`;
}
