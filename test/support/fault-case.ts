import { expect } from '@jest/globals';
import type { ProblemCode } from '../../src/errors/problem-table.js';
import { repair } from './bank-for-file.js';
import { askInTime, expectCommonConditions, expectSafe } from './common-conditions.js';
import { startGateway, type Gateway } from './gateway.js';
import type { Answer } from './call.js';
import { MovedClock } from './moved-clock.js';
import type { Handler, PretendBank } from './pretend-bank.js';
import { until } from './until.js';

export interface FaultCase {
  /** The bank's handler during the fault. */
  readonly onToken?: Handler;
  readonly onAccounts?: Handler;
  readonly code: ProblemCode;
  readonly status: number;
  readonly owner: string;
}

interface FaultSeen {
  readonly answer: Answer;
  readonly tokenRequests: number;
  readonly accountRequests: number;
}

interface Scene {
  readonly bank: PretendBank;
  readonly gateway: Gateway;
  readonly clock: MovedClock;
}

/**
 * A short timeout for a silent bank, but long enough to get a token on a busy machine. Other faults keep a long one.
 */
const SILENT = { BANK_REQUEST_TIMEOUT_MS: '2000', REQUEST_DEADLINE_MS: '8000' };

/** Longer than any back-off (docs/calling-the-bank.md#token), the maximum age of a snapshot and the life of a token. */
export const LONGEST_WAIT_MS = 361_000;

/** Runs faults of this bank, all with the same two gateways. Await it at the top of a file. */
export async function faultsOf(bank: PretendBank) {
  const [usual, silent] = [await startScene(bank), await startScene(bank, SILENT)];
  return {
    run: (fault: FaultCase): Promise<FaultSeen> => runFault(fault.code === 'bank-timeout' ? silent : usual, fault),
    /** For the last test: asserts that the shared gateways leave nothing behind. */
    end: async (): Promise<void> => {
      await silent.gateway.close();
      await expectCommonConditions(bank, usual.gateway, []);
    },
  };
}

async function startScene(bank: PretendBank, env: Record<string, string> = {}): Promise<Scene> {
  const clock = new MovedClock();
  // longer than any delay on a busy machine
  clock.stop();
  return { bank, clock, gateway: await startGateway(bank, env, clock) };
}

/**
 * A gateway without a usable snapshot or token calls a failing bank. Asserts that the response is the documented one, that other
 * callers get the same during the back-off without a call to the bank, and that the gateway recovers once the bank is repaired.
 */
async function runFault({ bank, gateway, clock }: Scene, fault: FaultCase): Promise<FaultSeen> {
  clock.advance(LONGEST_WAIT_MS);
  if (fault.onToken) bank.onToken = fault.onToken;
  if (fault.onAccounts) bank.onAccounts = fault.onAccounts;
  const eventsOf = () => ['bank.unavailable', 'bank.recovered'].map((event) => gateway.events(event).length);
  const [lines, [unavailable = 0, recovered = 0]] = [gateway.lines.length, eventsOf()];

  const answer = await askInTime(gateway);
  const { code, owner } = answer.json as { code: string; owner: string };
  const expected = { status: fault.status, code: fault.code, owner: fault.owner };
  expect({ status: answer.status, code, owner }).toEqual(expected);
  const counts = () => {
    const tokenRequests = bank.requests.filter(({ path }) => path.includes('authorize')).length;
    return { tokenRequests, accountRequests: bank.requests.length - tokenRequests };
  };
  const seen = counts();
  const others = await Promise.all([askInTime(gateway), askInTime(gateway), askInTime(gateway)]);
  expect(others.map(({ json }) => json.code)).toEqual([fault.code, fault.code, fault.code]);
  expect((await gateway.get('/health/ready')).status).toBe(503);
  expect(counts()).toEqual(seen);

  repair(bank);
  clock.advance(LONGEST_WAIT_MS);
  let last = await askInTime(gateway);
  await until(async () => (last = await askInTime(gateway)).status === 200);
  expect(last.json.page.total).toBe(3);
  expect((await gateway.get('/health/ready')).status).toBe(200);
  expect(eventsOf()).toEqual([unavailable + 1, recovered + 1]);
  await expectSafe(bank, gateway, [answer, ...others, last], lines);
  return { answer, ...seen };
}
