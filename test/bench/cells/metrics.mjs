import { fileURLToPath } from 'node:url';
import { get } from '../callers.mjs';
import { digits, median, percentile, toTable } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { sideBySide } from './side-by-side.mjs';

const CONNECTIONS = 32;
const SETTLING_SECONDS = 8;
const SECONDS = 1;
const HEADERS = { 'accept-encoding': 'br' };
const LIMIT_MICROSECONDS = 3;
const WITHOUT = ['--import', fileURLToPath(new URL('../without-telemetry.mjs', import.meta.url))];

/** Two processes of each kind, since two of the same kind differ by more than what is measured here. */
const KINDS = [
  { name: 'with metrics', flags: [], metrics: 200 },
  { name: 'without', flags: WITHOUT, metrics: 404 },
];

/** What counting costs: CPU time of a cached answer, with the telemetry module and without. */
export async function metrics(bench) {
  const { bank, generator, quick, nodeFlags } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  const contenders = [];
  for (const process of [1, 2]) {
    for (const { name, flags, metrics: status } of KINDS)
      contenders.push(await startContender(process, name, flags, status));
  }
  for (const { url } of contenders) {
    await generator.run(url, { connections: CONNECTIONS, seconds: SETTLING_SECONDS, headers: HEADERS });
  }
  const rounds = quick ? 8 : 20;
  const loads = await sideBySide(contenders, { ...bench, rounds, seconds: SECONDS, connections: CONNECTIONS });
  for (const { gateway } of contenders) await gateway.stop();

  const cpuOf = (name) => [1, 2].map((process) => loads.get(`${name}, ${process}`).map((load) => load.cpuMicroseconds));
  const [[with1, with2], [without1, without2]] = KINDS.map(({ name }) => cpuOf(name));
  const costs = with1.map((cpu, round) => (cpu + with2[round] - without1[round] - without2[round]) / 2);
  const cost = median(costs);
  const spread = [0.25, 0.75].map((share) => digits(percentile(costs, share), 1)).join(' to ');
  return {
    tables: [
      [
        `CPU time of a cached answer (br), µs, medians of ${rounds} rounds of ${SECONDS} s`,
        toTable(
          ['process', ...KINDS.map(({ name }) => name)],
          [0, 1].map((index) => [String(index + 1), ...KINDS.map(({ name }) => digits(median(cpuOf(name)[index]), 1))]),
        ),
      ],
    ],
    goals: [
      {
        goal: `metrics and the last hour: ≤ ${LIMIT_MICROSECONDS} µs of CPU time a request`,
        measured: `${digits(cost, 1)} µs (half of the rounds ${spread})`,
        reached: cost <= LIMIT_MICROSECONDS,
        // CPU time is counted whatever else runs
        disturbed: false,
      },
    ],
    raw: Object.fromEntries(loads),
  };

  async function startContender(process, name, flags, status) {
    const gateway = await startGateway({ ...bench, nodeFlags: [...nodeFlags, ...flags] });
    await gateway.settled();
    const answer = await get(`${gateway.url}/metrics`);
    if (answer.status !== status) throw new Error(`${name}: /metrics answers ${answer.status}, not ${status}`);
    return {
      gateway,
      name: `${name}, ${process}`,
      url: gateway.accountsUrl,
      headers: HEADERS,
      pids: gateway.program.pids,
      check: (given) => {
        if (given.status !== 200 || given.headers['content-encoding'] !== 'br')
          throw new Error(`${name}: ${given.status}`);
      },
    };
  }
}
