import { get } from '../callers.mjs';
import { whole } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { assertSameAnswers, JSON_ONLY, takeAnswers, withoutAsOf } from '../ready-answers.mjs';
import { startHttpProxy, startNestExpress, startNginx, startReady, startVarnish } from '../rivals.mjs';
import { atLeast, p99AtMost, sideBySide, toLoadTable } from './side-by-side.mjs';

const CONNECTIONS = 32;
/** Until then the runtime still compiles what is hot, which takes the longest where there is most code. */
const SETTLING_SECONDS = 8;
const GATEWAY = 'accounts-gateway';

/** What is asked, by the names of ready-answers.mjs, and which rivals besides the two that do the same. */
const SCENES = [
  { question: 'plain', title: 'not compressed', others: ['bare', 'nginx', 'varnish', 'nestExpress', 'proxy'] },
  { question: 'br', title: 'as br', others: [] },
  { question: 'gzip', title: 'as gzip', others: ['onTheFly'] },
  { question: 'not-modified', title: '304', others: [] },
];

/** The list that is held already, by 32 connections: plain, compressed, and not modified. */
export async function warmList(bench) {
  const { bank, say, token } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  const gateway = await startGateway(bench);
  await gateway.settled();
  const answers = await takeAnswers(gateway);
  const ours = { name: GATEWAY, words: 'gateway', toUrl: () => gateway.accountsUrl, pids: gateway.program.pids };
  const { rivals, missing } = await startRivals({ ...bench, answers, gateway });
  const { bareLogged, nestFastify, nestExpress, onTheFly } = rivals;
  const theBank = (await bank.list(token, 'PageNumber=1&PageSize=50')).trim();
  const words = { gateway: withoutAsOf(answers.plain.text), bank: theBank };

  say(`${SETTLING_SECONDS} s for each until it is compiled`);
  for (const rival of [ours, bareLogged, nestFastify]) {
    const { url, headers } = await toContender(rival, 'plain', answers.plain, words);
    await bench.generator.run(url, { connections: CONNECTIONS, seconds: SETTLING_SECONDS, headers });
  }

  const results = {};
  for (const { question, title, others } of SCENES) {
    say(`the list of 50, ${title}`);
    const context = others.flatMap((name) => (rivals[name] ? [{ ...rivals[name], context: true }] : []));
    const contenders = [];
    for (const rival of [ours, bareLogged, nestFastify, ...context])
      contenders.push(await toContender(rival, question, answers[question], words));
    results[question] = await sideBySide(contenders, { ...bench, connections: CONNECTIONS });
  }

  const lines = {};
  for (const rival of Object.values(rivals)) {
    const count = await rival?.stop();
    if (count) lines[rival.name] = count;
  }
  lines[GATEWAY] = await gateway.stop();

  const sizes = ['plain', 'br', 'gzip'].map((name) => `${whole(answers[name].body.length)} (${name})`);
  const { requestId: _requestId, ...fields } = answers.plain.line;
  return {
    tables: SCENES.map(({ question, title }) => [
      `The list of 50 accounts, held already, ${CONNECTIONS} connections, ${title}`,
      toLoadTable(results[question], GATEWAY),
    ]),
    notes: [
      `The gateway's list is ${sizes.join(', ')} bytes, under ${answers.plain.rawHeaders.length / 2} headers; nginx and the proxy hand on the bank's own JSON, ${whole(Buffer.byteLength(theBank))} bytes. Its log line: ${Object.keys(fields).join(', ')}, and the request id. Bare node:http (with the line) and Nest on Fastify were checked to send and write the same.`,
      `Log lines that were read from pipes meanwhile: ${Object.entries(lines)
        .map(([name, count]) => `${name} ${whole(count)}`)
        .join(', ')}.`,
    ],
    missing,
    goals: [
      ...SCENES.flatMap(({ question, title }) => {
        const versus = (toGoal, text, limit, rival) =>
          toGoal(`warm list, ${title}: ${text}`, limit, results[question], GATEWAY, rival.name);
        return [
          versus(atLeast, '≥ 0.85 of bare node:http, same headers and line', 0.85, bareLogged),
          versus(atLeast, '≥ 1.1 × Nest on Fastify, ready bytes', 1.1, nestFastify),
          versus(p99AtMost, 'p99 ≤ 1.5 × that of Nest on Fastify', 1.5, nestFastify),
        ];
      }),
      atLeast('warm list: ≥ 3 × Nest on Express with objects', 3, results.plain, GATEWAY, nestExpress?.name),
      atLeast('as gzip: ≥ 3 × nginx compressing on the fly', 3, results.gzip, GATEWAY, onTheFly?.name),
    ],
    raw: Object.fromEntries(Object.entries(results).map(([question, loads]) => [question, Object.fromEntries(loads)])),
  };
}

async function startRivals(bench) {
  const { answers, quick } = bench;
  const ready = await startReady(bench);
  for (const rival of Object.values(ready)) await assertSameAnswers(rival, answers);
  const found = {
    nginx: await startNginx(bench),
    varnish: quick ? undefined : await startVarnish(bench),
    '@nestjs/platform-express': await startNestExpress(bench),
    '@fastify/http-proxy': quick ? undefined : await startHttpProxy(bench),
  };
  const { nginx, varnish } = found;
  const onTheFly = nginx && {
    ...nginx,
    name: 'nginx, compressing on the fly',
    toUrl: () => nginx.gzipUrl,
    stop: () => undefined,
  };
  return {
    rivals: {
      // the first to be stopped, since it stands before the gateway
      varnish,
      ...ready,
      nginx,
      onTheFly,
      nestExpress: found['@nestjs/platform-express'],
      proxy: found['@fastify/http-proxy'],
    },
    missing: Object.keys(found).filter((name) => found[name] === null),
  };
}

/** A rival as it is asked `question`, and how its answer is checked against the gateway's (`answer`) before measuring. */
async function toContender(rival, question, answer, words) {
  const { status, request, headers } = answer;
  const encoding = headers['content-encoding'];
  const url = rival.toUrl(question);
  const etag = status === 304 ? { 'if-none-match': (await get(url, JSON_ONLY)).headers.etag } : {};
  return {
    ...rival,
    url,
    headers: { ...request, ...etag },
    check: (given) => {
      const wrong = (what) => new Error(`${rival.name}, ${question}: wrong answer before measuring: ${what}`);
      if (given.status !== status) throw wrong(`status ${given.status}`);
      if (given.headers['content-encoding'] !== encoding) throw wrong(`encoding ${given.headers['content-encoding']}`);
      if (status === 304 && given.body.length > 0) throw wrong('a body');
      if (status === 200 && withoutAsOf(given.text) !== words[rival.words]) throw wrong('another body');
    },
  };
}
