import { get } from '../callers.mjs';
import { digits, median, toTable, whole } from '../figures.mjs';
import { startGateway } from '../gateway.mjs';
import { JSON_ONLY } from '../ready-responses.mjs';
import { startBffInADay } from '../rivals.mjs';

const CONNECTIONS = 32;
/** More than the cell needs under any load. */
const ALL = 1_000_000;

/**
 * Compares the gateway with a BFF written in a day: 50 accounts, bank latency 20 ms. Then measures what callers get
 * while the bank is down.
 */
export async function day(bench) {
  const { bank, say, starts } = bench;
  const samples = [];
  for (let start = 0; start < starts; start++) {
    await bank.set({ accounts: 120, latencyMs: 20 });
    const gateway = await startGateway(bench);
    await gateway.settled();
    const bff = await startBffInADay(bench);
    const sample = {
      gateway: await measure(bench, gateway.accountsUrl, () => callsOf(gateway)),
      bff: await measure(bench, bff.accountsUrl, bff.calls),
    };
    await bank.set({ failNext: { endpoint: 'accounts', times: ALL, with: '503' } });
    for (const [name, { accountsUrl }] of Object.entries({ gateway, bff })) {
      const { status, headers } = await get(accountsUrl, { ...JSON_ONLY, 'cache-control': 'max-stale' });
      sample[name].down = `${status}${headers['snapshot-stale'] ? ', the cached snapshot' : ''}`;
    }
    await bank.reset();
    samples.push(sample);
    say(`  start ${start + 1} of ${starts}: ${JSON.stringify(sample)}`);
    await Promise.all([gateway.stop(), bff.stop()]);
  }
  await bank.set({ accounts: 120, latencyMs: 0 });
  const row = (title, name) => {
    const middle = (figure) => median(samples.map((sample) => sample[name][figure]));
    return [
      title,
      whole(middle('perSecond')),
      digits(middle('p50'), 1),
      digits(middle('callsPer1000'), 1),
      samples[0][name].down,
    ];
  };
  const head = ['', 'responses/s', 'p50 ms', 'calls at the bank per 1000 responses', 'while the bank is down'];
  const rows = [row('accounts-gateway', 'gateway'), row('a BFF written in a day', 'bff')];
  return {
    tables: [['The list of 50 accounts, 32 connections, bank at 20 ms', toTable(head, rows)]],
    goals: [],
    raw: samples,
  };
}

async function measure({ generator, seconds }, url, calls) {
  const before = await calls();
  const { requests, perSecond, p50, errors } = await generator.run(url, {
    connections: CONNECTIONS,
    seconds,
    headers: JSON_ONLY,
  });
  if (errors > 0) throw new Error(`${url}: ${errors} errors`);
  const asked = (await calls()) - before;
  return { perSecond, p50, callsPer1000: (asked / requests) * 1000 };
}

/** Number of calls to the bank since the start. */
async function callsOf({ url }) {
  const { text } = await get(`${url}/metrics`);
  const counts = text.matchAll(/^http_client_request_duration_seconds_count\{[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
