import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach } from '@jest/globals';
import { closeAll } from './closing.js';
import { closeGateways } from './gateway.js';
import {
  closePretendBanks,
  issueToken,
  startPretendBank,
  type PretendBank,
  type PretendBankOptions,
} from './pretend-bank.js';
import { listSample } from './sample-accounts.js';

/** The bank answers as on a good day; what it has seen and issued stays noted. */
export function repair(bank: PretendBank): void {
  bank.onToken = issueToken(bank);
  bank.onAccounts = listSample();
}

/**
 * One bank for the tests of a file, to be awaited at its top. After each test what it started is closed, and the bank
 * is again as it was.
 */
export async function bankForFile(options: PretendBankOptions = {}): Promise<PretendBank> {
  const bank = await startPretendBank(options);
  repair(bank);
  afterEach(async () => {
    await closeGateways();
    await closeAll();
    repair(bank);
    bank.requests.length = 0;
    bank.tokens.length = 0;
    Object.assign(bank.most, { token: 0, accounts: 0 });
  });
  afterAll(closePretendBanks);
  return bank;
}

/** Another host, for a redirect to name, for the tests of a file; to be awaited at its top. Counts what reaches it. */
export async function otherHostForFile(): Promise<{ readonly url: string; readonly requests: number }> {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get requests() {
      return requests;
    },
  };
}
