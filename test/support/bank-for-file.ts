import { afterEach } from '@jest/globals';
import { issueToken, startPretendBank, type PretendBank, type PretendBankOptions } from './pretend-bank.js';
import { listSample } from './sample-accounts.js';

/** The bank issues tokens and lists three accounts again. Its records stay. */
export function repair(bank: PretendBank): void {
  bank.onToken = issueToken(bank);
  bank.onAccounts = listSample();
}

/** Holds back the account list until the returned function is called. */
export function holdAccounts(bank: PretendBank): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const good = listSample();
  bank.onAccounts = (...args) => void promise.then(() => good(...args));
  return resolve;
}

/** One bank for all tests in a file. Await it at the top. Its handlers and records are reset after each test. */
export async function bankForFile(options: PretendBankOptions = {}): Promise<PretendBank> {
  const bank = await startPretendBank(options);
  repair(bank);
  afterEach(async () => {
    repair(bank);
    bank.requests.length = 0;
    bank.tokens.length = 0;
    Object.assign(bank.most, { token: 0, accounts: 0 });
  });
  return bank;
}
