import { setTimeout as delay } from 'node:timers/promises';
import { burst, get } from '../callers.mjs';
import { digits, median, percentile } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { withoutAsOf } from '../ready-answers.mjs';

const CALLERS = 200;
const LATENCY_MS = 20;
const PATH = '/api/v1/accounts';
/** After this nothing held is served any more, so that the second burst finds nothing either. */
const FORGOTTEN_MS = 500;

/** 200 callers at once, to a process that has only just opened its port, and again when what it holds is too old. */
export async function coldBurst(bench) {
  const { bank, say, quick } = bench;
  const rounds = quick ? 3 : 7;
  await bank.set({ accounts: 120, latencyMs: LATENCY_MS });
  const cold = [];
  const warm = [];
  for (let round = 0; round < rounds; round++) {
    // from its start on: a reading that it makes by itself is the one that the callers share
    const before = await look(bank);
    const gateway = await startGateway({
      ...bench,
      settings: { SNAPSHOT_FRESH_MS: String(FORGOTTEN_MS), SNAPSHOT_MAX_AGE_MS: String(FORGOTTEN_MS) },
    });
    await gateway.live();
    cold.push(await oneBurst(bank, gateway, before));
    await delay(FORGOTTEN_MS + 100);
    warm.push(await oneBurst(bank, gateway, await look(bank)));
    await gateway.stop();
    say(`  round ${round + 1}  median ${cold.at(-1).median.toFixed(0)} ms, then ${warm.at(-1).median.toFixed(0)} ms`);
  }
  await bank.set({ latencyMs: 0 });
  const all = (bursts, figure) => median(bursts.map((one) => one[figure]));
  const limit = 2 * LATENCY_MS + 60;
  const asked = (bursts) =>
    `${Math.max(...bursts.map(({ tokens }) => tokens))} token, ${Math.max(...bursts.map(({ readings }) => readings))} reading`;
  const once = (bursts) => bursts.every(({ tokens, readings }) => tokens <= 1 && readings === 1);
  return {
    notes: [
      `Cold burst: fresh process each round, the callers come the moment it listens, each on a new connection; median ${digits(all(cold, 'median'), 0)} ms, last caller ${digits(all(cold, 'last'), 0)} ms. The same once more when nothing held may be served any more: median ${digits(all(warm, 'median'), 0)} ms, last ${digits(all(warm, 'last'), 0)} ms (${asked(warm)}).`,
    ],
    goals: [
      {
        goal: `cold burst, ${CALLERS} callers, bank at ${LATENCY_MS} ms: one token request, one reading`,
        measured: `at most ${asked(cold)}`,
        reached: once(cold) && once(warm),
        disturbed: false,
      },
      {
        goal: `cold burst: median ≤ two bank round trips + 60 ms (${limit} ms)`,
        measured: `${digits(all(cold, 'median'), 0)} ms`,
        reached: all(cold, 'median') <= limit,
      },
    ],
    raw: { cold, warm },
  };
}

/** The moment, and how many tokens the bank has issued until now. */
const look = async (bank) => ({ since: new Date().toISOString(), tokens: (await bank.state()).tokensIssued });

async function oneBurst(bank, gateway, before) {
  const answers = await burst(gateway.port, PATH, CALLERS);
  // a second reading is counted below, and missed as a goal
  const expected = withoutAsOf(answers[0].body);
  const wrong = answers.find(({ status, body }) => status !== 200 || withoutAsOf(body) !== expected);
  if (wrong) throw new Error(`cold burst: answers differ, or one is ${wrong.status}: ${wrong.body.slice(0, 300)}`);
  if (JSON.parse(answers[0].body).page.total !== 120) throw new Error('cold burst: not all accounts');
  const { requests, tokensIssued } = await bank.state();
  const times = answers.map(({ ms }) => ms);
  return {
    median: percentile(times, 0.5),
    last: Math.max(...times),
    tokens: tokensIssued - before.tokens,
    readings: requests.filter(({ at, endpoint }) => endpoint === 'accounts' && at >= before.since).length,
  };
}

/** Makes the callers' own code warm, on a server that does not matter. */
export async function warmCallers(port) {
  for (let index = 0; index < 5; index++) await burst(port, '/control', CALLERS).catch(() => undefined);
  await get(`http://127.0.0.1:${port}/control`);
}
