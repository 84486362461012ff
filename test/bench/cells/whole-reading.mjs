import { startGateway } from '../gateway.mjs';
import { startBareClient } from '../rivals.mjs';
import { compareReadings, judgeReadings } from './readings.mjs';

const ACCOUNTS = 10_000;
const PAGE_SIZE = 1000;
const LATENCY_MS = 50;

/** 10 000 accounts read from the bank, to the caller's last byte, against a bare https client that parses and forgets. */
export async function wholeReading(shared) {
  const bench = { ...shared, onPair: true };
  const { bank, quick } = bench;
  await bank.set({ accounts: ACCOUNTS, latencyMs: LATENCY_MS });
  const gateway = await startGateway({ ...bench, settings: { BANK_PAGE_SIZE: String(PAGE_SIZE) } });
  await gateway.settled();
  const client = startBareClient(bench);
  const order = { gateway, client, accounts: ACCOUNTS, pageSize: PAGE_SIZE };
  await compareReadings({ ...order, rounds: 2, say: () => undefined });
  const results = await compareReadings({ ...order, rounds: quick ? 3 : 7, say: bench.say });
  await client.stop();
  await gateway.stop();
  await bank.set({ accounts: 120, latencyMs: 0 });
  const what = `reading ${ACCOUNTS} accounts, pages of ${PAGE_SIZE}, bank at ${LATENCY_MS} ms`;
  const { goal, note } = judgeReadings(results, what, 1.5);
  return { goals: [goal], notes: [`${ACCOUNTS} accounts: ${note}`], raw: { results } };
}
