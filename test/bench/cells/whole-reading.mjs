import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { get } from '../callers.mjs';
import { digits, median } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { start, watchCpu } from '../processes.mjs';

const ACCOUNTS = 10_000;
const PAGE_SIZE = 500;
const LATENCY_MS = 50;
/** The gateway's default, BANK_MAX_CONCURRENT_REQUESTS. */
const CONCURRENT = 6;
/** A reading younger than this counts as asked now (contract §3). */
const COUNTS_AS_NOW_MS = 1000;

/** 10 000 accounts read from the bank, to the caller's last byte, against a bare https client that parses and forgets. */
export async function wholeReading(bench) {
  const { bank, token, say, quick } = bench;
  const rounds = quick ? 3 : 7;
  await bank.set({ accounts: ACCOUNTS, latencyMs: LATENCY_MS });
  const gateway = await startGateway({ ...bench, settings: { BANK_PAGE_SIZE: String(PAGE_SIZE) } });
  await gateway.live();
  const client = startBareClient(bench);
  const bare = () => client.read({ token, pageSize: PAGE_SIZE, concurrent: CONCURRENT });
  const ours = async () => {
    const answer = await get(gateway.accountsUrl, { 'cache-control': 'no-cache', accept: 'application/json' });
    const { page } = JSON.parse(answer.text);
    if (answer.status !== 200 || page.total !== ACCOUNTS || !answer.headers['cache-status'].includes('fwd='))
      throw new Error(`whole reading: ${answer.status}, ${page?.total} accounts, ${answer.headers['cache-status']}`);
    return answer.ms;
  };
  const results = [];
  // two to warm both up
  for (let round = -2; round < rounds; round++) {
    const cpu = { gateway: watchCpu(gateway.program), bare: watchCpu(client.program) };
    const pair = { gateway: await ours(), bare: await bare() };
    pair.cpu = { gateway: cpu.gateway(), bare: cpu.bare() };
    await delay(Math.max(100, COUNTS_AS_NOW_MS + 100 - pair.bare));
    if (round < 0) continue;
    results.push(pair);
    say(`  round ${round + 1}  gateway ${pair.gateway.toFixed(0)} ms, bare client ${pair.bare.toFixed(0)} ms`);
  }
  await client.stop();
  await gateway.stop();
  await bank.set({ accounts: 120, latencyMs: 0 });
  const ratio = median(results.map(({ gateway, bare }) => gateway / bare));
  const middle = (who) => digits(median(results.map((pair) => pair[who])), 0);
  const cpu = (who) => digits(median(results.map((pair) => pair.cpu[who] ?? 0)), 0);
  return {
    notes: [
      `Reading ${ACCOUNTS} accounts takes the gateway ${cpu('gateway')} ms of CPU time, the bare client ${cpu('bare')} ms.`,
    ],
    goals: [
      {
        goal: `reading ${ACCOUNTS} accounts, pages of ${PAGE_SIZE}, bank at ${LATENCY_MS} ms: ≤ 1.3 × a bare https client`,
        measured: `${digits(ratio, 2)} (${middle('gateway')} ms : ${middle('bare')} ms)`,
        reached: ratio <= 1.3,
      },
    ],
    raw: { results },
  };
}

/** rivals/bare-client.mjs as a process on the server's core. */
export function startBareClient({ cwd, bank }) {
  const program = start(
    'bare client',
    [process.execPath, fileURLToPath(new URL('../rivals/bare-client.mjs', import.meta.url))],
    { underTest: true, cwd, ipc: true },
  );
  const { ca, pfx, passphrase } = bank.tls;
  return {
    program,
    read: async (order) => {
      program.child.send({ ...order, url: bank.url, tls: { ca, pfx: pfx.toString('base64'), passphrase } });
      const result = await Promise.race([
        new Promise((resolve) => program.child.once('message', resolve)),
        program.ended.then(() => ({ error: program.complaint() })),
      ]);
      if (result.error) throw new Error(`bare client: ${result.error}`);
      return result.ms;
    },
    stop: program.stop,
  };
}
