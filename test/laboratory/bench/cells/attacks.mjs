import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { get, openConnections } from '../callers.mjs';
import { toTable } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { endlessCount, slowNames, startHostileBank } from '../hostile-bank.mjs';
import { memoryOf } from '../machine.mjs';
import { JSON_ONLY } from '../ready-responses.mjs';
import { oneCaller } from './one-caller.mjs';

const ATTACK_MS = 20_000;
/** Duration of normal traffic before an attack. */
const SETTLE_MS = 20_000;
const AFTER_MS = 60_000;
const LOOK_MS = 100;
/** Allowed growth over the level before the attack, MB. */
const GROWTH = 150;
const NO_CACHE = { ...JSON_ONLY, 'cache-control': 'no-cache' };
/** Interval between the calls of a normal caller, and between refreshes; both run throughout. */
const USUAL_MS = 1000;
/** The list of one refresh is 25 MB of JSON, which downloads and slow readers could keep in memory. */
const MANY = 25_000;

/** Starts a new gateway for each attack. `during` gets a signal that aborts when the attack ends. */
const ATTACKS = [
  { name: 'names that are slow to compare', pages: slowNames, during: refreshAgain },
  { name: '/openapi.json as br over 300 connections', during: askForDocuments },
  { name: '1600 spellings of one query, whose callers leave', accounts: 10_000, during: askInManySpellings },
  { name: 'idle connections after downloads, and slow readers', accounts: MANY, during: holdConnections },
  { name: 'a count of 999 999 999, one account a page', pages: endlessCount, during: refreshAgain },
];

/** Peak resident memory during normal traffic, during the attack, and during normal traffic a minute later. */
export async function attacks(bench) {
  const { bank, say } = bench;
  const others = await oneCaller(bench);
  const samples = [];
  for (const attack of ATTACKS) {
    await bank.set({ accounts: attack.accounts ?? 120, latencyMs: 0 });
    const sample = await underAttack(bench, attack);
    samples.push({ name: attack.name, ...sample });
    say(`  ${JSON.stringify(samples.at(-1))}`);
  }
  await bank.set({ accounts: 120, latencyMs: 0 });
  const head = ['attack', 'MB before', 'peak', `after ${AFTER_MS / 1000} s`, 'probe, slowest ms'];
  const rows = samples.map(({ name, before, peak, after, probe }) => [name, before, peak, after, probe].map(String));
  return {
    tables: [['Resident memory under attack', toTable(head, rows)]],
    goals: [
      ...others,
      ...samples.flatMap(({ name, before, peak, after }) => [
        goal(`${name}: peak ≤ ${GROWTH} MB more than before`, peak - before, GROWTH),
        // a heap keeps some memory for reuse
        goal(`${name}: after ${AFTER_MS / 1000} s ≤ 60 MB more than before`, after - before, 60),
      ]),
    ],
    raw: samples,
  };
}

const goal = (text, value, limit) => ({ goal: text, measured: `${value} MB`, reached: value <= limit });

async function underAttack(bench, { pages, during }) {
  const hostile = pages && (await startHostileBank(bench.bank, pages()));
  const settings = { SNAPSHOT_FRESH_MS: String(USUAL_MS), REQUEST_DEADLINE_MS: '5000', ...hostile?.settings };
  const gateway = await startGateway({ ...bench, onPair: true, settings });
  await gateway.live();
  const { pid } = gateway.program;
  const stopUse = useAsUsual(gateway);
  const before = await peakWithin(pid, SETTLE_MS);
  const peaking = peakWithin(pid, ATTACK_MS);
  let probe = 0;
  hostile?.setHostile(true);
  const end = AbortSignal.timeout(ATTACK_MS);
  const probes = (async () => {
    while (!end.aborted) {
      probe = Math.max(probe, (await get(`${gateway.url}/health/live`)).ms);
      await delay(LOOK_MS);
    }
  })();
  await Promise.all([during(gateway, end), probes]);
  hostile?.setHostile(false);
  const peak = await peaking;
  await delay(AFTER_MS);
  const after = await peakWithin(pid, 5 * USUAL_MS);
  stopUse();
  hostile?.stop();
  await gateway.stop();
  return { before, peak, probe: Math.round(probe), asked: hostile?.asked(), after };
}

/** Makes one call per second until the returned function is called. */
function useAsUsual(gateway) {
  const timer = setInterval(() => void get(gateway.accountsUrl, JSON_ONLY).catch(() => undefined), USUAL_MS);
  return () => clearInterval(timer);
}

/** The highest resident memory within that time, MB. */
async function peakWithin(pid, ms) {
  const end = performance.now() + ms;
  let peak = 0;
  while (performance.now() < end) {
    peak = Math.max(peak, memoryOf(pid).now);
    await delay(LOOK_MS);
  }
  return peak;
}

/** Calls with `no-cache` in a loop. */
async function refreshAgain(gateway, end) {
  while (!end.aborted) {
    await get(gateway.accountsUrl, NO_CACHE).catch(() => undefined);
    await delay(LOOK_MS);
  }
}

async function askForDocuments(gateway, end) {
  const encoded = { 'accept-encoding': 'br' };
  const agent = await openConnections(`${gateway.url}/openapi.json`, 300, encoded);
  const ask = async () => {
    while (!end.aborted) await get(`${gateway.url}/openapi.json`, encoded, { agent });
  };
  await Promise.all(Array.from({ length: 300 }, ask));
  agent.destroy();
}

/** Requests the same query through different URLs, compressed with br. Each caller disconnects before the response. */
async function askInManySpellings(gateway, end) {
  for (let round = 0; !end.aborted; round++) {
    const sockets = Array.from({ length: 100 }, (_, index) => {
      const query = `pageSize=1000${'&'.repeat(1 + ((round * 100 + index) % 1600))}`;
      return send(gateway, `/api/v1/accounts?${query}`, 'Accept-Encoding: br\r\n');
    });
    await delay(LOOK_MS);
    for (const socket of sockets) socket.destroy();
  }
}

/** Keeps open idle connections that have finished a download, and others that never read theirs, while the list is replaced. */
async function holdConnections(gateway, end) {
  const agent = await openConnections(`${gateway.accountsUrl}?pageSize=1000`, 30, JSON_ONLY);
  const idle = [];
  const slow = [];
  for (let round = 0; !end.aborted; round++) {
    if (round < 30) idle.push(send(gateway, '/api/v1/accounts?format=csv').resume());
    const path =
      round % 2 === 0 ? '/api/v1/accounts?format=ndjson' : `/api/v1/accounts?pageSize=1000&pageNumber=${round}`;
    slow.push(send(gateway, path).pause(), send(gateway, '/api/v1/accounts?pageSize=1000').pause());
    await get(gateway.accountsUrl, NO_CACHE).catch(() => undefined);
    await delay(LOOK_MS);
  }
  for (const socket of [...idle, ...slow]) socket.destroy();
  agent.destroy();
}

function send({ port }, path, headers = '') {
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`);
  return socket;
}
