import { get } from '../callers.mjs';
import { digits, median, spread, toTable, whole } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { ticksOf } from '../machine.mjs';
import { assertSameAnswers, JSON_ONLY, takeAnswers, withoutAsOf } from '../ready-answers.mjs';
import { startNest, startNginx } from '../rivals.mjs';

const CONNECTIONS = 32;
const SLICE_SECONDS = 1;
const HOUR_MS = '3600000';
const GATEWAY = 'accounts-gateway';
const NEST = 'Nest on Fastify with a guard, ready bytes';
const COMPRESSING = 'nginx, compressing';
/** By query, with the names in ready-answers.mjs: the rival mentioned in the goals. */
const RIVALS = { plain: NEST, br: NEST, gzip: COMPRESSING, 'not-modified': NEST };

/**
 * The cached list of 50 accounts over 32 connections. The servers run side by side and are loaded in turn, for a second
 * each; a ratio is calculated within such a cycle. Every start has new processes.
 */
export async function list(bench) {
  const { bank, say, starts } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  /** By query: one cycle after the other, each with the load of every server by name. */
  const cycles = Object.fromEntries(Object.keys(RIVALS).map((question) => [question, []]));
  for (let start = 0; start < starts; start++) {
    say(`  start ${start + 1} of ${starts}`);
    await oneStart(bench, cycles);
  }
  const ratios = (question, figure) => toRatios(cycles[question], RIVALS[question], figure);
  const goal = (text, values, reached) => ({
    goal: text,
    measured: values === null ? 'not measured: the rival is missing' : spread(values, 2),
    reached: values && reached(median(values)),
  });
  return {
    tables: Object.entries(cycles).map(([question, each]) => [
      `The cached list of 50 accounts, ${question}`,
      toLoadTable(each),
    ]),
    goals: [
      ...['plain', 'br', 'not-modified'].flatMap((question) => [
        goal(`${question}: answers/s ≥ 0.85 × ${NEST}`, ratios(question, 'perSecond'), (ratio) => ratio >= 0.85),
        goal(`${question}: CPU time of an answer ≤ 1.18 × its`, ratios(question, 'cpu'), (ratio) => ratio <= 1.18),
        goal(`${question}: p99 ≤ 1.3 × its p99`, ratios(question, 'p99'), (ratio) => ratio <= 1.3),
      ]),
      goal(`gzip: answers/s ≥ 2.5 × ${COMPRESSING}`, ratios('gzip', 'perSecond'), (ratio) => ratio >= 2.5),
    ],
    raw: cycles,
  };
}

async function oneStart(bench, cycles) {
  const { bank, token, generator, sliceCycles, settleAnswers } = bench;
  // refreshes have their own cell: none happens in the slices of this one
  const settings = { SNAPSHOT_FRESH_MS: HOUR_MS, SNAPSHOT_MAX_AGE_MS: HOUR_MS };
  const gateway = await startGateway({ ...bench, settings });
  await gateway.settled();
  const answers = await takeAnswers(gateway);
  const words = {
    gateway: withoutAsOf(answers.plain.text),
    bank: (await bank.list(token, 'PageNumber=1&PageSize=50')).trim(),
  };
  const { pids } = gateway.program;
  const ours = { name: GATEWAY, words: 'gateway', toUrl: () => gateway.accountsUrl, pids, stop: gateway.stop };
  const nest = await startNest({ ...bench, answers, name: NEST });
  await assertSameAnswers(nest, answers);
  const nginx = await startNginx(bench);
  for (const { toUrl } of [ours, nest]) {
    const slice = { connections: CONNECTIONS, seconds: SLICE_SECONDS, headers: JSON_ONLY };
    for (let count = 0; count < settleAnswers;) count += (await generator.run(toUrl('plain'), slice)).requests;
  }
  for (const question of Object.keys(RIVALS)) {
    const servers = [ours, nest];
    if (nginx && question === 'plain') servers.push(nginx);
    if (nginx && question === 'gzip') servers.push({ ...nginx, name: COMPRESSING, toUrl: () => nginx.gzipUrl });
    const asked = [];
    for (const server of servers)
      asked.push([server, await checkAnswer(server, question, answers[question], words[server.words])]);
    for (let cycle = 0; cycle < sliceCycles; cycle++) {
      const loads = {};
      for (const [server, expected] of asked) loads[server.name] = await measure(server, expected, generator);
      cycles[question].push(loads);
      // the next cycle begins with the last server of this one
      asked.reverse();
    }
  }
  await Promise.all([ours, nest, nginx].map((server) => server?.stop()));
}

/** Checks one response. Returns its address, the request headers for it, and its size. */
async function checkAnswer({ name, toUrl }, question, expected, words) {
  const url = toUrl(question);
  const etag = expected.status === 304 ? { 'if-none-match': (await get(url, JSON_ONLY)).headers.etag } : {};
  const headers = { ...expected.request, ...etag };
  const answer = await get(url, headers);
  const right =
    answer.status === expected.status &&
    answer.headers['content-encoding'] === expected.headers['content-encoding'] &&
    (answer.status === 304 ? answer.body.length === 0 : withoutAsOf(answer.text) === words);
  if (!right) throw new Error(`${name}, ${question}: wrong answer before measuring (${answer.status})`);
  const size = answer.rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 19) + answer.body.length;
  return { url, headers, size };
}

/** One slice of load; every response must have its size. */
async function measure({ name, pids }, { url, headers, size }, generator) {
  const before = ticksOf(pids());
  const load = await generator.run(url, { connections: CONNECTIONS, seconds: SLICE_SECONDS, headers });
  const ticks = ticksOf(pids()) - before;
  if (load.errors > 0 || Math.abs(load.bytes - size) > size * 0.02 + 80)
    throw new Error(
      `${name}, ${url}: ${load.errors} errors, answers of ${Math.round(load.bytes)} bytes under load, not ${size}`,
    );
  return { ...load, cpu: (ticks * 10_000) / load.requests };
}

/** The gateway's result divided by the rival's, in each cycle; null without the rival. */
function toRatios(cycles, rival, figure) {
  if (!cycles[0]?.[rival]) return null;
  return cycles.map((loads) => loads[GATEWAY][figure] / loads[rival][figure]);
}

function toLoadTable(cycles) {
  const rows = Object.keys(cycles[0]).map((name) => {
    const middle = (figure) => median(cycles.map((loads) => loads[name][figure]));
    return [
      name,
      whole(middle('perSecond')),
      ...['perSecond', 'cpu', 'p99'].map((figure) =>
        name === GATEWAY ? '' : spread(toRatios(cycles, name, figure), 2),
      ),
      digits(middle('cpu'), 1),
      digits(middle('p50'), 2),
      digits(middle('p99'), 2),
    ];
  });
  const head = [
    'server',
    'answers/s',
    'gateway is ×',
    'its CPU time ×',
    'its p99 ×',
    'CPU µs each',
    'p50 ms',
    'p99 ms',
  ];
  return toTable(head, rows);
}
