import { expect } from '@jest/globals';
import type { ProblemCode } from '../../src/problems/problem-table.js';
import { repair } from './bank-for-file.js';
import { askInTime, expectCommonConditions } from './common-conditions.js';
import { startGateway, type Answer, type Gateway } from './gateway.js';
import { MovedClock } from './moved-clock.js';
import type { Handler, PretendBank } from './pretend-bank.js';
import { until } from './until.js';

export interface FaultCase {
  /** What the bank answers while it is at fault. */
  readonly onToken?: Handler;
  readonly onAccounts?: Handler;
  readonly env?: Record<string, string>;
  readonly code: ProblemCode;
  readonly status: number;
  readonly owner: string;
}

interface FaultSeen {
  readonly answer: Answer;
  readonly gateway: Gateway;
  readonly tokenRequests: number;
  readonly accountRequests: number;
}

/** For a bank that is silent: the wait in vain ends soon. Any other answer has its time on a busy machine. */
const SILENT = { BANK_REQUEST_TIMEOUT_MS: '400', REQUEST_DEADLINE_MS: '1500' };

/** The longest that any failure is waited out (docs/bank.md#token-rules). */
export const LONGEST_WAIT_MS = 361_000;

/**
 * A cold gateway against a bank with a fault: the answer must be the documented one, other callers meanwhile get one as
 * well without the bank being asked more, and once the fault is gone it works again by itself.
 */
export async function runFault(bank: PretendBank, fault: FaultCase): Promise<FaultSeen> {
  repair(bank);
  bank.requests.length = 0;
  Object.assign(bank.most, { token: 0, accounts: 0 });
  if (fault.onToken) bank.onToken = fault.onToken;
  if (fault.onAccounts) bank.onAccounts = fault.onAccounts;
  const clock = new MovedClock();
  // a busy machine must not take as long as the wait after the failure
  clock.stop();
  const gateway = await startGateway(bank, { ...(fault.code === 'bank-timeout' && SILENT), ...fault.env }, clock);

  const answer = await askInTime(gateway);
  expect({ status: answer.status, ...pick(answer.json) }).toEqual({
    status: fault.status,
    code: fault.code,
    owner: fault.owner,
  });
  const counts = () => {
    const tokenRequests = bank.requests.filter(({ path }) => path.includes('authorize')).length;
    return { tokenRequests, accountRequests: bank.requests.length - tokenRequests };
  };
  const seen = counts();
  // while the failure is waited out nobody asks, and everybody is told the same at once
  const others = await Promise.all([askInTime(gateway), askInTime(gateway), askInTime(gateway)]);
  expect(others.map(({ json }) => json.code)).toEqual([fault.code, fault.code, fault.code]);
  expect((await gateway.get('/health/ready')).status).toBe(503);
  expect(counts()).toEqual(seen);

  repair(bank);
  clock.advance(LONGEST_WAIT_MS);
  let last = await askInTime(gateway);
  await until(async () => (last = await askInTime(gateway)).status === 200, 20_000);
  expect(last.json.page.total).toBe(3);
  expect((await gateway.get('/health/ready')).status).toBe(200);
  expect(gateway.events('bank.unavailable')).toHaveLength(1);
  expect(gateway.events('bank.recovered')).toHaveLength(1);
  await expectCommonConditions(bank, gateway, [answer, ...others, last]);
  return { answer, gateway, ...seen };
}

function pick({ code, owner }: { code: string; owner: string }) {
  return { code, owner };
}
