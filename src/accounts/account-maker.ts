import type { BankAccount } from '../bank/bank-account.js';
import type { Account } from './account.js';
import { share } from './share.js';
import { toAccount } from './to-account.js';

/** Texts and objects of which one copy is kept for all accounts of a reading; more different ones than this are not. */
const MAX_KNOWN = 20_000;

/**
 * Makes the accounts of one reading. What equals the reading before is the same object as there (see `share`); of what is
 * new, the parts that many accounts have alike are kept once.
 */
export function createAccountMaker(
  before: { find(id: string): Account | undefined } | null,
): (bank: BankAccount) => Account {
  const known = new Map<string, unknown>();
  const once = <T>(key: string, value: T): T => {
    const kept = known.get(key);
    if (kept !== undefined) return kept as T;
    if (known.size < MAX_KNOWN) known.set(key, value);
    return value;
  };
  const onceText = <T extends string | null>(text: T): T => (text === null ? text : once(text, text));

  return (bank) => {
    const account = toAccount(bank);
    const held = before?.find(account.id);
    if (held) return share(held, account);
    const { owner, interest, overdraft } = account;
    account.owner = once(JSON.stringify(['owner', owner.id, owner.name, owner.number]), owner);
    account.interest = once(JSON.stringify(['interest', interest.netRate, interest.calcMethod]), interest);
    account.overdraft = once(JSON.stringify(['overdraft', overdraft.rate, overdraft.calcMethod]), overdraft);
    account.description = onceText(account.description);
    account.openedAt = onceText(account.openedAt);
    account.closedAt = onceText(account.closedAt);
    for (const balance of account.balances) balance.financialDate = onceText(balance.financialDate);
    for (const identifier of account.identifiers) {
      identifier.financialInstitution = onceText(identifier.financialInstitution);
      if (identifier.account === account.iban) identifier.account = account.iban;
    }
    return account;
  };
}
