import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { get } from '../callers.mjs';
import { startGateway } from '../gateway.mjs';
import { slowToSort, startHostileBank } from '../hostile-bank.mjs';
import { memoryOf } from '../machine.mjs';
import { JSON_ONLY } from '../ready-responses.mjs';

/** The memory of the pod in config/kubernetes, MB. Only the gateway's own view of it is limited here. */
const POD_MB = 1024;
const IN_POD = [`--import=data:text/javascript,process.constrainedMemory=()=>${POD_MB * 2 ** 20}`];
const DEADLINE_MS = 15_000;
const FLOOD = 2240;
/** The gateway closes a connection with more unanswered requests. */
const PIPELINED = 8;
const DOWNLOAD_MS = 120_000;
const BYTES_PER_SECOND = 50_000;

/** What one caller can do to all others. */
export async function oneCaller(bench) {
  const { bank, say } = bench;
  const goals = [];
  const add = (goal, measured, reached) => {
    say(`  ${goal}: ${measured}`);
    goals.push({ goal, measured, reached });
  };
  await bank.set({ accounts: 100_000, latencyMs: 0 });
  const flood = await flooded(bench);
  add(
    '2240 new queries in a second: others served within 1 s of the last answer to it',
    `${flood.servedAfterMs} ms`,
    flood.servedAfterMs <= 1000,
  );
  add(`2240 new queries in a second: peak ≤ ${POD_MB} MB`, `${flood.peak} MB`, flood.peak <= POD_MB);
  await bank.set({ accounts: 180_000 });
  const slow = await readSlowly(bench);
  add(
    'a CSV of 180 000 accounts, read slowly: no failed refresh',
    `${slow.failed} of ${slow.failed + slow.succeeded}`,
    slow.failed === 0 && slow.succeeded > 2,
  );
  add(`a CSV of 180 000 accounts, read slowly: peak ≤ ${POD_MB} MB`, `${slow.peak} MB`, slow.peak <= POD_MB);
  await bank.set({ accounts: 120 });
  const sorted = await sortBackwards(bench);
  add('40 000 names that are slow to compare, sort=-name: others within 1 s', `${sorted} ms`, sorted <= 1000);
  return goals;
}

async function begin(bench, settings) {
  const gateway = await startGateway({ ...bench, onPair: true, nodeFlags: IN_POD, settings });
  await gateway.live();
  // the first list may take longer than one call waits
  while ((await get(`${gateway.accountsUrl}?pageSize=1`)).status !== 200) await delay(500);
  return gateway;
}

let asked = 0;
/** A query that nobody has asked before. */
const askAnew = (gateway) => get(`${gateway.accountsUrl}?pageSize=1&q=stranger${(asked += 1)}`, JSON_ONLY);

/** Milliseconds from the last answer of a flood until a stranger's new query is answered. */
async function flooded(bench) {
  const gateway = await begin(bench, { SNAPSHOT_FRESH_MS: '300000', REQUEST_DEADLINE_MS: String(DEADLINE_MS) });
  let answeredAt = 0;
  const sockets = Array.from({ length: FLOOD / PIPELINED }, (_, index) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1' }).on('error', () => undefined);
    const numbers = Array.from({ length: PIPELINED }, (_each, at) => index * PIPELINED + at);
    const toRequest = (number) => `GET /api/v1/accounts?q=n${number} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    socket.write(numbers.map(toRequest).join(''));
    return socket.on('data', () => (answeredAt = performance.now()));
  });
  await delay(DEADLINE_MS - 200);
  let status;
  while (status !== 200) ({ status } = await askAnew(gateway));
  const servedAfterMs = Math.max(0, Math.round(performance.now() - answeredAt));
  for (const socket of sockets) socket.destroy();
  const { peak } = memoryOf(gateway.program.pid);
  await gateway.stop();
  return { servedAfterMs, peak };
}

/** Calls every second, which refreshes the list, while a CSV is read at 50 KB a second. */
async function readSlowly(bench) {
  const gateway = await begin(bench, { SNAPSHOT_FRESH_MS: '1000' });
  const socket = connect({ port: gateway.port, host: '127.0.0.1' }).on('error', () => undefined);
  socket.write('GET /api/v1/accounts?format=csv HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  socket.pause();
  const end = performance.now() + DOWNLOAD_MS;
  while (performance.now() < end) {
    socket.read(BYTES_PER_SECOND);
    void get(`${gateway.accountsUrl}?pageSize=1`, JSON_ONLY).catch(() => undefined);
    await delay(1000);
  }
  socket.destroy();
  const { text } = await get(`${gateway.url}/metrics`);
  let [failed, succeeded] = [0, 0];
  for (const [, outcome, count] of text.matchAll(/^accounts_gateway_refreshes_total\{outcome="([\w-]+)"\} (\d+)/gm)) {
    if (outcome === 'ok') succeeded += Number(count);
    else failed += Number(count);
  }
  const { peak } = memoryOf(gateway.program.pid);
  await gateway.stop();
  return { failed, succeeded, peak };
}

/** Milliseconds that a stranger's new query takes while the list is sorted in descending order. */
async function sortBackwards(bench) {
  const hostile = await startHostileBank(bench.bank, slowToSort());
  hostile.setHostile(true);
  const gateway = await begin(bench, { ...hostile.settings, SNAPSHOT_FRESH_MS: '300000' });
  // folds the names once
  await askAnew(gateway);
  const sorting = get(`${gateway.accountsUrl}?pageSize=1&sort=-name`, JSON_ONLY);
  await delay(50);
  const { ms } = await askAnew(gateway);
  await sorting;
  await gateway.stop();
  hostile.stop();
  return Math.round(ms);
}
