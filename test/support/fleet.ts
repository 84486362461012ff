import type { Clock } from '../../src/time/clock.js';
import { startGateway, type Gateway } from './gateway.js';
import { listAccounts, type PretendBank } from './pretend-bank.js';
import type { Redis } from './redis.js';
import { sampleAccounts } from './sample-accounts.js';

/** Number of token requests and refreshes (calls for page 1) at the bank. */
export const asked = ({ requests }: PretendBank) => ({
  tokens: requests.filter(({ path }) => path.includes('authorize')).length,
  refreshes: requests.filter(({ path }) => path.startsWith('/api/v1/accounts?PageNumber=1')).length,
});

/** A time limit so long that Redis does not look slow on a busy machine. */
const PATIENT_MS = 30_000;

/** Gateways with one bank and one Redis, each with its own connections and memory. */
export async function startFleet(
  size: number,
  bank: PretendBank,
  redis: Pick<Redis, 'env'>,
  env: Record<string, string> = {},
  clocks: readonly Clock[] = [],
  redisWaitMs: number | undefined = PATIENT_MS,
): Promise<[Gateway, Gateway, ...Gateway[]]> {
  const gateways: Gateway[] = [];
  for (let each = 0; each < size; each += 1) {
    gateways.push(await startGateway(bank, { ...redis.env, ...env }, clocks[each], undefined, redisWaitMs));
  }
  return gateways as [Gateway, Gateway, ...Gateway[]];
}

/** An account list that takes a while. */
export const slowly =
  (ms: number, count = 20): PretendBank['onAccounts'] =>
  (...args) =>
    void setTimeout(() => listAccounts(sampleAccounts(count))(...args), ms);

export const sharingOf = async (gateway: Gateway) => (await gateway.get('/health')).json.details.sharing;
