import { setTimeout as delay } from 'node:timers/promises';
import { get } from '../callers.mjs';
import { digits, median, whole } from '../figures.mjs';
import { COUNTS_AS_NOW_MS } from '../gateway.mjs';
import { JSON_ONLY } from '../ready-answers.mjs';
import { watchCpu } from '../machine.mjs';

/** The milliseconds in which a caller who wants the bank asked now has an answer made of `accounts` accounts. */
export async function readNow(gateway, accounts) {
  const { status, text, headers, ms } = await get(gateway.accountsUrl, { ...JSON_ONLY, 'cache-control': 'no-cache' });
  const total = status === 200 ? JSON.parse(text).page.total : null;
  if (total !== accounts || !headers['cache-status'].includes('fwd='))
    throw new Error(`a reading of ${accounts}: ${status}, ${total} accounts, ${headers['cache-status']}`);
  return ms;
}

/** Readings of the gateway and of the bare client in turn; `[{ gateway, bare, cpu: { gateway, bare } }]`, milliseconds. */
export async function compareReadings({ gateway, client, accounts, pageSize, rounds, say }) {
  const results = [];
  for (let round = 0; round < rounds; round++) {
    const cpu = { gateway: watchCpu(gateway.program), bare: watchCpu(client.program) };
    const pair = { gateway: await readNow(gateway, accounts), bare: await client.read(pageSize) };
    pair.cpu = { gateway: cpu.gateway(), bare: cpu.bare() };
    await delay(Math.max(100, COUNTS_AS_NOW_MS + 100 - pair.bare));
    results.push(pair);
    say(`  round ${round + 1}  gateway ${whole(pair.gateway)} ms, bare client ${whole(pair.bare)} ms`);
  }
  return results;
}

/** The goal that a reading of the gateway takes at most `limit` times as long, and a note on CPU time. */
export function judgeReadings(results, goal, limit) {
  const ratio = (toPair) => digits(median(results.map(toPair).map(([ours, theirs]) => ours / theirs)), 2);
  const middle = (toFigure) => whole(median(results.map(toFigure)));
  const measured = ratio(({ gateway, bare }) => [gateway, bare]);
  const byCpu = ratio(({ cpu }) => [cpu.gateway.all, cpu.bare.all]);
  const times = [middle(({ gateway }) => gateway), middle(({ bare }) => bare)];
  const serving = middle(({ cpu }) => cpu.gateway.first);
  const rest = middle(({ cpu }) => cpu.gateway.all - cpu.gateway.first);
  return {
    goal: {
      goal: `${goal}: ≤ ${limit} × a bare client`,
      measured: `${measured} (${times[0]} ms : ${times[1]} ms; by CPU time ${byCpu})`,
      reached: Number(measured) <= limit,
    },
    note: `CPU time of a reading: serving thread ${serving} ms, all other threads (the worker, garbage collection) ${rest} ms; the bare client ${middle(({ cpu }) => cpu.bare.all)} ms.`,
  };
}
