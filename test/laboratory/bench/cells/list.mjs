import { get } from '../callers.mjs';
import { digits, median, medianRatio, toTable, whole } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { ticksOf } from '../machine.mjs';
import { JSON_ONLY, takeAnswers, withoutAsOf } from '../ready-answers.mjs';
import { startNginx, startReady } from '../rivals.mjs';

const CONNECTIONS = 32;
const GATEWAY = 'accounts-gateway';
const NEST = 'Nest on Fastify with a guard, ready bytes';
const COMPRESSING = 'nginx, compressing';
/** As ready-answers.mjs names them. */
const QUESTIONS = ['plain', 'br', 'gzip', 'not-modified'];

/** The cached list of 50 accounts over 32 connections. Every start has new processes of every server. */
export async function list(bench) {
  const { bank, say, starts } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  /** Loads by question and server, one for each start. */
  const loads = Object.fromEntries(QUESTIONS.map((question) => [question, {}]));
  for (let start = 0; start < starts; start++) {
    say(`  start ${start + 1} of ${starts}`);
    for (const { question, name, load } of await oneStart(bench, start)) (loads[question][name] ??= [])[start] = load;
  }
  const ratio = (question, figure, rival) =>
    medianRatio(loads[question][GATEWAY], loads[question][rival], (load) => load[figure]);
  const goal = (text, value, limit, reached) => ({
    goal: text,
    measured: value === null ? 'not measured: the rival is missing' : digits(value, 2),
    reached: value === null ? null : reached(value, limit),
  });
  const [atLeast, atMost] = [(value, limit) => value >= limit, (value, limit) => value <= limit];
  return {
    tables: QUESTIONS.map((question) => [`The cached list of 50 accounts, ${question}`, toLoadTable(loads[question])]),
    goals: [
      ...['plain', 'br', 'not-modified'].flatMap((question) => [
        goal(`${question}: answers/s ≥ 0.8 × ${NEST}`, ratio(question, 'perSecond', NEST), 0.8, atLeast),
        goal(`${question}: p99 ≤ 1.5 × its p99`, ratio(question, 'p99', NEST), 1.5, atMost),
      ]),
      goal(`gzip: answers/s ≥ 2.5 × ${COMPRESSING}`, ratio('gzip', 'perSecond', COMPRESSING), 2.5, atLeast),
    ],
    raw: loads,
  };
}

async function oneStart(bench, start) {
  const { bank, token, generator, seconds, settleSeconds } = bench;
  const gateway = await startGateway(bench);
  await gateway.settled();
  const answers = await takeAnswers(gateway);
  const words = {
    gateway: withoutAsOf(answers.plain.text),
    bank: (await bank.list(token, 'PageNumber=1&PageSize=50')).trim(),
  };
  const ours = {
    name: GATEWAY,
    words: 'gateway',
    toUrl: () => gateway.accountsUrl,
    pids: gateway.program.pids,
    stop: gateway.stop,
  };
  const ready = await startReady({ ...bench, answers, nestName: NEST });
  const nginx = await startNginx(bench);
  const every = [ours, ...ready];
  for (const { toUrl } of every)
    await generator.run(toUrl('plain'), { connections: CONNECTIONS, seconds: settleSeconds, headers: JSON_ONLY });
  const results = [];
  for (const question of QUESTIONS) {
    const asked = [...every];
    if (nginx && question === 'plain') asked.push(nginx);
    if (nginx && question === 'gzip') asked.push({ ...nginx, name: COMPRESSING, toUrl: () => nginx.gzipUrl });
    // each start begins with another server
    for (const server of asked.map((_, index) => asked[(index + start) % asked.length]))
      results.push({
        question,
        name: server.name,
        load: await measure(server, question, answers[question], words, { generator, seconds }),
      });
  }
  await Promise.all([...every, nginx].map((server) => server?.stop()));
  return results;
}

/** Checks one answer, then measures; every answer under load must have its size. */
async function measure({ name, words: whose, toUrl, pids }, question, expected, words, { generator, seconds }) {
  const url = toUrl(question);
  const etag = expected.status === 304 ? { 'if-none-match': (await get(url, JSON_ONLY)).headers.etag } : {};
  const headers = { ...expected.request, ...etag };
  const answer = await get(url, headers);
  const right =
    answer.status === expected.status &&
    answer.headers['content-encoding'] === expected.headers['content-encoding'] &&
    (answer.status === 304 ? answer.body.length === 0 : withoutAsOf(answer.text) === words[whose]);
  if (!right) throw new Error(`${name}, ${question}: wrong answer before measuring (${answer.status})`);
  const before = ticksOf(pids());
  const load = await generator.run(url, { connections: CONNECTIONS, seconds, headers });
  const ticks = ticksOf(pids()) - before;
  const size = answer.rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text) + 2, 19) + answer.body.length;
  if (load.errors > 0 || Math.abs(load.bytes - size) > size * 0.02 + 80)
    throw new Error(
      `${name}, ${question}: ${load.errors} errors, answers of ${Math.round(load.bytes)} bytes under load, not ${size}`,
    );
  return { ...load, cpu: (ticks * 10_000) / (load.perSecond * seconds) };
}

function toLoadTable(byName) {
  const ours = byName[GATEWAY];
  const rows = Object.entries(byName).map(([name, loads]) => {
    const speeds = loads.map(({ perSecond }) => perSecond);
    const middle = (figure) => median(loads.map((load) => load[figure]));
    return [
      name,
      whole(middle('perSecond')),
      `${whole(Math.min(...speeds))}–${whole(Math.max(...speeds))}`,
      name === GATEWAY
        ? ''
        : digits(
            medianRatio(ours, loads, ({ perSecond }) => perSecond),
            2,
          ),
      digits(middle('p50'), 2),
      digits(middle('p99'), 2),
      digits(middle('cpu'), 1),
    ];
  });
  return toTable(['server', 'answers/s', 'lowest–highest', 'gateway is ×', 'p50 ms', 'p99 ms', 'CPU µs each'], rows);
}
