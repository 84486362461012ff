import { get } from '../callers.mjs';
import { digits, median, spread, toTable, whole } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { ticksOf } from '../machine.mjs';
import { assertSameResponses, JSON_ONLY, takeResponses, withoutAsOf } from '../ready-responses.mjs';
import { startNest, startNginx } from '../rivals.mjs';

const CONNECTIONS = 32;
const SLICE_SECONDS = 1;
const HOUR_MS = '3600000';
const GATEWAY = 'accounts-gateway';
const NEST = 'Nest on Fastify with a guard, ready bytes';
const COMPRESSING = 'nginx, compressing';
/** The rival that the goals name, by variant (ready-responses.mjs). */
const RIVALS = { plain: NEST, br: NEST, gzip: COMPRESSING, 'not-modified': NEST };

/**
 * The cached list of 50 accounts over 32 connections. All servers run side by side. In each cycle every server is
 * loaded for a second, one after the other, and ratios are taken within a cycle. Every start uses new processes.
 */
export async function list(bench) {
  const { bank, say, starts } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  /** The cycles by variant. A cycle has the load of every server, by name. */
  const cycles = Object.fromEntries(Object.keys(RIVALS).map((variant) => [variant, []]));
  for (let start = 0; start < starts; start++) {
    say(`  start ${start + 1} of ${starts}`);
    await oneStart(bench, cycles);
  }
  const ratios = (variant, figure) => toRatios(cycles[variant], RIVALS[variant], figure);
  const goal = (text, values, reached) => ({
    goal: text,
    measured: values === null ? 'not measured: the rival is missing' : spread(values, 2),
    reached: values && reached(median(values)),
  });
  return {
    tables: Object.entries(cycles).map(([variant, each]) => [
      `The cached list of 50 accounts, ${variant}`,
      toLoadTable(each),
    ]),
    goals: [
      ...['plain', 'br', 'not-modified'].flatMap((variant) => [
        goal(`${variant}: responses/s ≥ 0.85 × ${NEST}`, ratios(variant, 'perSecond'), (ratio) => ratio >= 0.85),
        goal(
          `${variant}: CPU time per response ≤ 1.18 × that of Nest`,
          ratios(variant, 'cpu'),
          (ratio) => ratio <= 1.18,
        ),
        goal(`${variant}: p99 ≤ 1.3 × that of Nest`, ratios(variant, 'p99'), (ratio) => ratio <= 1.3),
      ]),
      goal(`gzip: responses/s ≥ 2.5 × ${COMPRESSING}`, ratios('gzip', 'perSecond'), (ratio) => ratio >= 2.5),
    ],
    raw: cycles,
  };
}

async function oneStart(bench, cycles) {
  const { bank, token, generator, sliceCycles, settleResponses } = bench;
  // no refresh during the slices: the refresh cell measures them
  const settings = { SNAPSHOT_FRESH_MS: HOUR_MS, SNAPSHOT_MAX_AGE_MS: HOUR_MS };
  const gateway = await startGateway({ ...bench, settings });
  await gateway.settled();
  const responses = await takeResponses(gateway);
  const words = {
    gateway: withoutAsOf(responses.plain.text),
    bank: (await bank.list(token, 'PageNumber=1&PageSize=50')).trim(),
  };
  const { pids } = gateway.program;
  const ours = { name: GATEWAY, words: 'gateway', toUrl: () => gateway.accountsUrl, pids, stop: gateway.stop };
  const nest = await startNest({ ...bench, responses, name: NEST });
  await assertSameResponses(nest, responses);
  const nginx = await startNginx(bench);
  for (const { toUrl } of [ours, nest]) {
    const slice = { connections: CONNECTIONS, seconds: SLICE_SECONDS, headers: JSON_ONLY };
    for (let count = 0; count < settleResponses;) count += (await generator.run(toUrl('plain'), slice)).requests;
  }
  for (const variant of Object.keys(RIVALS)) {
    const servers = [ours, nest];
    if (nginx && variant === 'plain') servers.push(nginx);
    if (nginx && variant === 'gzip') servers.push({ ...nginx, name: COMPRESSING, toUrl: () => nginx.gzipUrl });
    const asked = [];
    for (const server of servers)
      asked.push([server, await checkResponse(server, variant, responses[variant], words[server.words])]);
    for (let cycle = 0; cycle < sliceCycles; cycle++) {
      const loads = {};
      for (const [server, expected] of asked) loads[server.name] = await measure(server, expected, generator);
      cycles[variant].push(loads);
      // the next cycle begins with the last server of this one
      asked.reverse();
    }
  }
  await Promise.all([ours, nest, nginx].map((server) => server?.stop()));
}

/** Checks one response. Returns its URL, its request headers and its size. */
async function checkResponse({ name, toUrl }, variant, expected, words) {
  const url = toUrl(variant);
  const etag = expected.status === 304 ? { 'if-none-match': (await get(url, JSON_ONLY)).headers.etag } : {};
  const headers = { ...expected.request, ...etag };
  const response = await get(url, headers);
  const isRight =
    response.status === expected.status &&
    response.headers['content-encoding'] === expected.headers['content-encoding'] &&
    (response.status === 304 ? response.body.length === 0 : withoutAsOf(response.text) === words);
  if (!isRight) throw new Error(`${name}, ${variant}: wrong response before the measurement (${response.status})`);
  const size = response.rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 19) + response.body.length;
  return { url, headers, size };
}

/** Runs one slice of load. Fails after an error, or if the responses have another size on average. */
async function measure({ name, pids }, { url, headers, size }, generator) {
  const before = ticksOf(pids());
  const load = await generator.run(url, { connections: CONNECTIONS, seconds: SLICE_SECONDS, headers });
  const ticks = ticksOf(pids()) - before;
  if (load.errors > 0 || Math.abs(load.bytes - size) > size * 0.02 + 80)
    throw new Error(
      `${name}, ${url}: ${load.errors} errors, responses of ${Math.round(load.bytes)} bytes under load, not ${size}`,
    );
  return { ...load, cpu: (ticks * 10_000) / load.requests };
}

/** The gateway's value divided by the rival's, for each cycle; null without the rival. */
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
    'responses/s',
    'gateway ÷ rival',
    'CPU time ÷',
    'p99 ÷',
    'CPU µs per response',
    'p50 ms',
    'p99 ms',
  ];
  return toTable(head, rows);
}
