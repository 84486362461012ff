import { get } from '../callers.mjs';
import { startGateway } from '../gateway.mjs';
import { digits, median, toTable, whole } from '../figures.mjs';
import { startBare, startHttpProxy, startNestExpress, startNginx, startVarnish } from '../rivals.mjs';
import { cpuRatio, isDisturbed, ratio, sideBySide } from './side-by-side.mjs';

const JSON_ONLY = { accept: 'application/json' };
/** As browsers send it to an address without https. */
const AS_BROWSERS = { ...JSON_ONLY, 'accept-encoding': 'gzip, br' };
const CONNECTIONS = 32;
const GATEWAY = 'accounts-gateway';
const BARE = 'bare node:http';

/** The list that is held already, by 32 connections: plain, compressed, and not modified. */
export async function warmList(bench) {
  const { bank, say, quick } = bench;
  await bank.set({ accounts: 120, latencyMs: 0 });
  const gateway = await startGateway(bench);
  await gateway.live();
  const rivals = await startRivals(bench, gateway);
  const { answers, bare, bareLogged, nginx, varnish, nest, proxy } = rivals;
  const ours = { name: GATEWAY, url: gateway.accountsUrl, pids: gateway.program.pids };
  const theBank = (await bank.list(bench.token, 'PageNumber=1&PageSize=50')).trim();
  const sameAs = { gateway: withoutAsOf(answers.identity.text), bank: theBank };
  const expect = (words, status, encoding) => (answer) => {
    const wrong = (what) => new Error(`wrong answer before measuring: ${what}`);
    if (answer.status !== status) throw wrong(`status ${answer.status}`);
    if (answer.headers['content-encoding'] !== encoding) throw wrong(`encoding ${answer.headers['content-encoding']}`);
    if (status === 304 && answer.body.length > 0) throw wrong('a body');
    if (status === 200 && withoutAsOf(answer.text) !== sameAs[words]) throw wrong('another body');
  };
  const contenders = (list, headers, status, encoding) =>
    list
      .filter((rival) => rival?.url)
      .map((rival) => ({
        headers,
        ...rival,
        check: expect(rival.words ?? 'gateway', status, rival.encoding ?? encoding),
      }));

  say('the list of 50, not compressed');
  const plain = await sideBySide(contenders([ours, bare, bareLogged, nginx, varnish, nest, proxy], JSON_ONLY, 200), {
    ...bench,
    connections: CONNECTIONS,
  });
  say('the list of 50, compressed');
  const encoding = answers.compressed.headers['content-encoding'];
  const readyMade = { ...bare, name: `${BARE}, ready-made ${encoding}`, url: bare.compressedUrl };
  const onTheFly = nginx && { ...nginx, name: 'nginx, compressing on the fly', url: nginx.gzipUrl, encoding: 'gzip' };
  const compressed = await sideBySide(contenders([ours, readyMade, onTheFly, varnish], AS_BROWSERS, 200, encoding), {
    ...bench,
    connections: CONNECTIONS,
  });
  say('not modified');
  const tagged = async (rival, url = rival?.url) =>
    rival && {
      ...rival,
      url,
      headers: { ...JSON_ONLY, 'if-none-match': (await get(rival.url, JSON_ONLY)).headers.etag },
    };
  const notModified = await sideBySide(
    contenders(
      [
        await tagged(ours),
        await tagged(bare, bare.notModifiedUrl),
        await tagged(varnish),
        await tagged(quick ? null : nest),
      ],
      JSON_ONLY,
      304,
    ),
    { ...bench, connections: CONNECTIONS },
  );

  const lines = {};
  for (const rival of [varnish, nest, proxy, nginx, bareLogged, bare]) {
    const count = await rival?.stop();
    if (count) lines[rival.name] = count;
  }
  lines[GATEWAY] = await gateway.stop();

  const size = whole(answers.identity.body.length);
  return {
    tables: [
      [`The list of 50 accounts, held already, ${CONNECTIONS} connections, not compressed`, toRows(plain)],
      [`The same with Accept-Encoding: ${AS_BROWSERS['accept-encoding']}`, toRows(compressed)],
      [`304 for a known ETag, ${CONNECTIONS} connections`, toRows(notModified)],
    ],
    notes: [
      `The gateway's list is ${size} bytes (${whole(answers.compressed.body.length)} as ${encoding}); nginx and the proxy hand on the bank's own JSON, ${whole(Buffer.byteLength(theBank))} bytes.`,
      `Log lines that were read from pipes meanwhile: ${Object.entries(lines)
        .map(([name, count]) => `${name} ${whole(count)}`)
        .join(', ')}.`,
    ],
    missing: rivals.missing,
    goals: [
      atLeast('warm list, not compressed: ≥ 0.80 of bare node:http', 0.8, plain, BARE),
      atLeast('warm list: ≥ 3 × Nest on Express with objects', 3, plain, nest?.name),
      atLeast(`compressed: ≥ 0.75 of bare node:http with ready-made ${encoding}`, 0.75, compressed, readyMade.name),
      atLeast('compressed: ≥ 3 × nginx compressing on the fly', 3, compressed, onTheFly?.name),
      atLeast('304: ≥ 0.75 of bare node:http', 0.75, notModified, BARE),
    ],
    raw: {
      plain: Object.fromEntries(plain),
      compressed: Object.fromEntries(compressed),
      notModified: Object.fromEntries(notModified),
    },
  };
}

async function startRivals(bench, gateway) {
  const { cwd, bank, quick } = bench;
  const identity = await get(gateway.accountsUrl, JSON_ONLY);
  const compressed = await get(gateway.accountsUrl, AS_BROWSERS);
  const notModified = await get(gateway.accountsUrl, { ...JSON_ONLY, 'if-none-match': identity.headers.etag });
  const answers = { identity, compressed, notModified };
  const ready = {
    '/identity': toReady(identity),
    '/compressed': toReady(compressed),
    '/not-modified': toReady(notModified),
  };
  const { token } = bench;
  const bare = await startBare({ cwd, answers: ready });
  assertSameHeaders(identity, await get(bare.url, JSON_ONLY));
  const found = {
    nginx: await startNginx({ cwd, bank, token }),
    varnish: quick ? undefined : await startVarnish({ cwd, gateway }),
    '@nestjs/platform-express': await startNestExpress({ cwd, answer: identity.text }),
    '@fastify/http-proxy': quick ? undefined : await startHttpProxy({ cwd, bank, token }),
  };
  return {
    answers,
    bare,
    bareLogged: quick ? undefined : await startBare({ cwd, answers: ready, log: true }),
    nginx: found.nginx,
    varnish: found.varnish,
    nest: found['@nestjs/platform-express'],
    proxy: found['@fastify/http-proxy'],
    missing: Object.keys(found).filter((name) => found[name] === null),
  };
}

/** What node:http adds by itself; content-length goes with the body. */
const OWN = new Set(['date', 'connection', 'keep-alive']);

function toReady({ status, rawHeaders, body }) {
  const headers = [];
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (!OWN.has(rawHeaders[index].toLowerCase())) headers.push(rawHeaders[index], rawHeaders[index + 1]);
  return { status, headers, body: body.length > 0 ? body.toString('base64') : null };
}

function assertSameHeaders(ours, theirs) {
  const names = ({ headers }) => Object.keys(headers).sort().join(' ');
  if (names(ours) !== names(theirs)) throw new Error(`bare node:http writes other headers: ${names(theirs)}`);
}

const withoutAsOf = (text) => text.replace(/"asOf":"[^"]*"/, '"asOf":""').trim();

const HEAD = [
  'server',
  'answers/s',
  'lowest–highest',
  'gateway is',
  'p50 ms',
  'p99 ms',
  'CPU µs each',
  'its core',
  'body bytes',
  'others',
];

function toRows(results) {
  const rows = [...results].map(([name, loads]) => {
    const of = (figure) => loads.map((load) => load[figure]);
    const middle = (figure, show) => (of(figure).includes(null) ? '–' : show(median(of(figure))));
    const percent = (share) => `${Math.round(share * 100)} %`;
    const speeds = of('perSecond');
    return [
      name,
      whole(median(speeds)),
      `${whole(Math.min(...speeds))}–${whole(Math.max(...speeds))}`,
      name === GATEWAY ? '' : `${digits(ratio(results, GATEWAY, name), 2)} ×`,
      middle('p50', (ms) => digits(ms, 2)),
      middle('p99', (ms) => digits(ms, 2)),
      middle('cpuMicroseconds', (us) => digits(us, 1)),
      middle('busy', percent),
      middle('bodyBytes', whole),
      middle('others', percent),
    ];
  });
  return toTable(HEAD, rows);
}

function atLeast(goal, limit, results, rival) {
  const measured = ratio(results, GATEWAY, rival);
  if (measured === null) return { goal, measured: 'not measured: the rival is missing', reached: null };
  const byCpu = cpuRatio(results, GATEWAY, rival);
  return {
    goal,
    measured: `${digits(measured, 2)}${byCpu === null ? '' : ` (by CPU time ${digits(byCpu, 2)})`}`,
    reached: measured >= limit,
    disturbed: isDisturbed(results, GATEWAY) || isDisturbed(results, rival),
  };
}
