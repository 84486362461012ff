// node test/laboratory/soak/memory-curve.mjs [--minutes 60] [--accounts 120]: prints the resident memory of the gateway
// while its bank fails every 25 s and a caller sends up to five requests a second.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { startBank } from '../bench/bank.mjs';
import { get } from '../bench/callers.mjs';
import { median } from '../bench/figures.mjs';
import { startGateway } from '../bench/gateway.mjs';
import { memoryOf } from '../bench/machine.mjs';
import { cleanUp, makeDirectory } from '../bench/processes.mjs';

const CALL_EVERY_MS = 200;
const FAULT_EVERY_MS = 25_000;
const FAULT_LASTS_MS = 8000;
const SAMPLE_EVERY_MS = 5000;
const REPORT_EVERY_MINUTES = 5;

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, accounts: { type: 'string', default: '120' } },
});
const minutes = Number(values.minutes);

const ACCOUNTS = '/api/v1/accounts';
const CALLS = [
  { path: ACCOUNTS },
  { path: `${ACCOUNTS}?pageSize=1000`, headers: { 'accept-encoding': 'br' } },
  { path: `${ACCOUNTS}?sort=-current&q=a` },
  { path: '/api/v1/balances', headers: { 'accept-encoding': 'gzip' } },
  { path: ACCOUNTS, headers: { 'cache-control': 'no-cache' } },
  { path: `${ACCOUNTS}?format=csv` },
  { path: '/health' },
  { path: '/metrics' },
];

const failing = (endpoint, kind) => ({ failNext: { endpoint, times: 1000, with: kind } });
const FAULTS = [
  failing('accounts', '503'),
  failing('accounts', 'html'),
  failing('accounts', 'reset'),
  failing('accounts', 'hang'),
  failing('accounts', 'truncate'),
  failing('accounts', '401'),
  { revokeTokens: true, ...failing('authorize', '500') },
  { revokeTokens: true, ...failing('authorize', '429') },
  { latencyMs: 2000 },
  { accounts: 0 },
  { movement: true },
];

async function measure() {
  const cwd = makeDirectory();
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const bank = await startBank({ root, cwd });
  const atRest = { accounts: Number(values.accounts) };
  await bank.set(atRest);
  const gateway = await startGateway({ root, cwd, bank });
  await gateway.settled();

  const endsAt = Date.now() + minutes * 60_000;
  const statuses = {};
  const samples = [];
  await Promise.all([call(), fail(), watch()]);
  process.stdout.write(`calls by status: ${JSON.stringify(statuses)}\n`);

  async function call() {
    for (let turn = 0; Date.now() < endsAt; turn++) {
      const { path, headers } = CALLS[turn % CALLS.length];
      const status = await get(`${gateway.url}${path}`, headers).then(
        (answer) => answer.status,
        (error) => error.code,
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      await delay(CALL_EVERY_MS);
    }
  }

  async function fail() {
    for (let turn = 0; Date.now() + FAULT_EVERY_MS < endsAt; turn++) {
      await delay(FAULT_EVERY_MS - FAULT_LASTS_MS);
      await bank.set(FAULTS[turn % FAULTS.length]);
      await delay(FAULT_LASTS_MS);
      await bank.reset();
      await bank.set(atRest);
    }
  }

  async function watch() {
    process.stdout.write('minutes: resident MB, median and highest\n');
    for (let part = REPORT_EVERY_MINUTES; Date.now() < endsAt; part += REPORT_EVERY_MINUTES) {
      const partEndsAt = Math.min(endsAt, Date.now() + REPORT_EVERY_MINUTES * 60_000);
      samples.length = 0;
      while (Date.now() < partEndsAt) {
        samples.push(memoryOf(gateway.program.pid).now);
        await delay(SAMPLE_EVERY_MS);
      }
      process.stdout.write(`${part}: ${median(samples)}, ${Math.max(...samples)}\n`);
    }
  }
}

try {
  await measure();
} finally {
  await cleanUp();
}
