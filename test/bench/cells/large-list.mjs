import { setTimeout as delay } from 'node:timers/promises';
import { get, openConnections, steady } from '../callers.mjs';
import { digits, median, percentile, whole } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { memoryOf, watchCpu } from '../processes.mjs';
import { startBareClient } from './whole-reading.mjs';

const ACCOUNTS = 100_000;
const LATENCY_MS = 20;
const EVERY_MS = 5;
const CONNECTIONS = 32;
const NEW_CONNECTION_EVERY_MS = 20;
const JSON_ONLY = { accept: 'application/json' };

/** 100 000 accounts: memory, other callers while they are read, and pages nobody has asked for yet. */
export async function largeList(bench) {
  const { bank, token, say, quick } = bench;
  await bank.set({ accounts: ACCOUNTS, latencyMs: LATENCY_MS });
  // the sandbox makes accounts when they are first asked for; that is no matter of the gateway's
  const client = startBareClient(bench);
  await client.read({ token, pageSize: 1000, concurrent: 6 });
  const bareMs = await client.read({ token, pageSize: 1000, concurrent: 6 });
  await client.stop();
  // fresh for so long that only no-cache asks the bank here
  const gateway = await startGateway({ ...bench, settings: { SNAPSHOT_FRESH_MS: '600000' } });
  await gateway.live();
  const read = () => get(gateway.accountsUrl, { ...JSON_ONLY, 'cache-control': 'no-cache' });

  const readings = [];
  const cpuTimes = [];
  const readWith = async (alongside) => {
    const cpu = watchCpu(gateway.program);
    const reading = read();
    const callers = await alongside?.(reading);
    const answer = await reading;
    assertWhole(answer);
    readings.push(answer.ms);
    cpuTimes.push(cpu() ?? 0);
    say(`  reading ${readings.length}: ${whole(answer.ms)} ms, CPU ${whole(cpuTimes.at(-1))} ms`);
    await delay(1500);
    return callers;
  };
  await readWith();
  const agent = await openConnections(gateway.accountsUrl, CONNECTIONS, JSON_ONLY);
  const kept = (running) => calls(gateway, running, { everyMs: EVERY_MS, agent });
  const calm = await kept(delay(quick ? 1000 : 2000));
  const during = [await readWith(kept), await readWith(kept)];
  const memory = memoryOf(gateway.program.pid);
  const newcomers = await readWith((running) => calls(gateway, running, { everyMs: NEW_CONNECTION_EVERY_MS }));
  agent.destroy();
  const unseen = await unseenPages(gateway, quick ? 30 : 60);
  const after = memoryOf(gateway.program.pid);
  await gateway.stop();
  await bank.set({ accounts: 120, latencyMs: 0 });

  const p99 = (callers, figure = 'ms') =>
    percentile(
      callers.map((caller) => caller[figure]),
      0.99,
    );
  const p99s = during.map((callers) => p99(callers));
  const late = during.map((callers) => p99(callers, 'lateMs'));
  const middle = median(unseen.times);
  return {
    notes: [
      `100 000 accounts: a reading takes ${readings.map((ms) => whole(ms)).join(', ')} ms (bank at ${LATENCY_MS} ms; the bare client ${whole(bareMs)} ms), CPU time ${cpuTimes.map((ms) => whole(ms)).join(', ')} ms. Other callers, one every ${EVERY_MS} ms on ${CONNECTIONS} kept connections, for the list of 50: p99 ${digits(p99(calm), 1)} ms while nothing is read, ${p99s.map((ms) => digits(ms, 1)).join(' and ')} ms during readings, longest ${digits(Math.max(...during.flat().map(({ ms }) => ms)), 0)} ms (of which they were late themselves: p99 ${late.map((ms) => digits(ms, 1)).join(' and ')} ms). Callers on new connections, one every ${NEW_CONNECTION_EVERY_MS} ms: median ${digits(median(newcomers.map(({ ms }) => ms)), 1)} ms, p99 ${digits(p99(newcomers), 0)} ms. Memory at its peak ${memory?.peak} MB; after ${unseen.times.length} further pages ${after?.now} MB.`,
      `Unseen pages: ${unseen.what}; longest ${digits(Math.max(...unseen.times), 1)} ms, first ${digits(unseen.times[0], 1)} ms.`,
    ],
    goals: [
      {
        goal: '100 000 accounts: resident memory after three readings ≤ 450 MB',
        measured: memory ? `${memory.now} MB` : 'not measured: no /proc',
        reached: memory ? memory.now <= 450 : null,
        disturbed: false,
      },
      {
        goal: `100 000 accounts: a ${unseen.filtered ? 'filtered, sorted ' : ''}page not seen before ≤ 15 ms median`,
        measured: `${digits(middle, 1)} ms${unseen.filtered ? '' : ' (no filters yet: plain pages)'}`,
        reached: unseen.filtered ? middle <= 15 : null,
      },
      {
        goal: `100 000 accounts: other callers' p99 during a reading ≤ 60 ms (${CONNECTIONS} kept connections)`,
        measured: `${digits(Math.max(...p99s), 0)} ms`,
        reached: Math.max(...p99s) <= 60,
      },
    ],
    raw: { readings, cpuTimes, p99s, late, calm: p99(calm), newcomers: p99(newcomers), memory, after, unseen },
  };
}

/** The callers who came while `running` ran. */
async function calls(gateway, running, options) {
  const end = new AbortController();
  let endedAt = Infinity;
  running.finally(() => {
    endedAt = performance.now();
    end.abort();
  });
  const results = await steady(gateway.accountsUrl, { ...options, signal: end.signal, headers: JSON_ONLY });
  const wrong = results.find(({ status }) => status !== 200);
  if (wrong) throw new Error(`a caller during a reading got ${wrong.status}`);
  return results.filter(({ due }) => due <= endedAt);
}

function assertWhole({ status, text, headers }) {
  const total = status === 200 ? JSON.parse(text).page.total : null;
  if (total !== ACCOUNTS || !headers['cache-status'].includes('fwd='))
    throw new Error(`large list: ${status}, ${total} accounts, ${headers['cache-status']}`);
}

const SORTS = ['-current', 'name', '-openedAt', 'currency', '-name', 'status', 'openedAt', 'current'];

/**
 * Questions that no two are alike, as people ask them: a word of a name or some digits of an IBAN, in changing order, every
 * third for one status only.
 */
async function unseenPages(gateway, count) {
  const filtered = (await get(`${gateway.accountsUrl}?q=zz&sort=-current&status=Active`, JSON_ONLY)).status === 200;
  const times = [];
  const matches = [];
  for (let index = 0; index < count; index++) {
    const query = filtered ? await toQuestion(gateway, index) : `pageNumber=${index * 31 + 2}&pageSize=50`;
    const { status, text, ms } = await get(`${gateway.accountsUrl}?${query}`, JSON_ONLY);
    if (status !== 200) throw new Error(`${query}: ${status}`);
    times.push(ms);
    matches.push(JSON.parse(text).page.total);
  }
  const what = filtered
    ? `?q=…&sort=…, every third with &status=Active; ${whole(Math.min(...matches))} to ${whole(Math.max(...matches))} matches, median ${whole(median(matches))}`
    : '?pageNumber=…, since this build has no filters and sorts yet; the goal is not judged';
  return { filtered, times, what };
}

async function toQuestion(gateway, index) {
  const example = await get(`${gateway.accountsUrl}?pageSize=1&pageNumber=${index * 1601 + 7}`, JSON_ONLY);
  const [{ name, id, ibans }] = JSON.parse(example.text).accounts;
  const word = index % 2 === 0 ? name.split(/\s/)[0].slice(0, 12) : (ibans[0] ?? id).slice(-5, -1);
  const status = index % 3 === 0 ? '&status=Active' : '';
  return `q=${encodeURIComponent(word)}&sort=${SORTS[index % SORTS.length]}&pageSize=${50 + index}${status}`;
}
