import { isValidIBAN } from 'ibantools';
import type { z } from 'zod';
import type { BankAccount, BankBalance } from './bank-account.js';
import type { accountSchema, balanceSchema } from './account-schema.js';
import { addDecimals } from './decimal.js';

export type Account = z.infer<typeof accountSchema>;
export type Balance = z.infer<typeof balanceSchema>;

/** Converts the bank's account to an API account. @param texts strings shared with earlier accounts in the list */
export function toAccount(bank: BankAccount, texts = new SharedTexts()): Account {
  const iban = ibanOf(bank);
  const share = (text: string | null) => texts.share(text);
  return {
    id: bank.accountId,
    name: bank.friendlyName ?? bank.accountDescription ?? iban ?? bank.accountId,
    description: share(bank.accountDescription),
    status: share(bank.status),
    currency: share(bank.currency),
    protection: share(bank.protectionType),
    iban,
    ibans: [...bank.ibans],
    identifiers: bank.accountIdentifiers.map(({ account, financialInstitution, country }) => ({
      account,
      financialInstitution: share(financialInstitution),
      country: share(country),
    })),
    owner: {
      id: share(bank.ownedByCompanyId),
      name: share(bank.ownedByCompanyName),
      number: share(bank.ownedByCompanyNumber),
    },
    openedAt: share(bank.openingDate),
    closedAt: share(bank.closingDate),
    balances: bank.balances.map((balance) => toBalance(balance, texts)),
    interest: { netRate: bank.netInterestRate, calcMethod: share(bank.interestCalcMethod) },
    overdraft: { rate: bank.overdraftRate, calcMethod: share(bank.overdraftRateCalcMethod) },
  };
}

function toBalance(bank: BankBalance, texts: SharedTexts): Balance {
  const { beginOfDayAmount, intraDayAmount } = bank;
  return {
    type: texts.share(bank.type),
    currency: texts.share(bank.currency),
    beginOfDay: beginOfDayAmount,
    intraDay: intraDayAmount,
    current:
      beginOfDayAmount === null || intraDayAmount === null ? null : addDecimals(beginOfDayAmount, intraDayAmount),
    blocked: bank.blockedBalanceAmount,
    financialDate: texts.share(bank.financialDate),
    lastTransactionAt: bank.lastTransactionTimestamp,
  };
}

/** The first of the IBANs, else the first identifier that is a valid IBAN, as the bank writes it. */
function ibanOf({ ibans, accountIdentifiers }: BankAccount): string | null {
  const isIban = (text: string | null) => text !== null && isValidIBAN(text.replaceAll(' ', '').toUpperCase());
  return ibans[0] ?? accountIdentifiers.find(({ account }) => isIban(account))?.account ?? null;
}

/** With more different texts, accounts evidently do not have them in common. */
const MAX_TEXTS = 50_000;

/** Texts that many accounts share, each kept once to save memory. */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  share<T extends string | null>(text: T): T | string {
    if (text === null) return text;
    const kept = this.#texts.get(text);
    if (kept !== undefined) return kept;
    if (this.#texts.size < MAX_TEXTS) this.#texts.set(text, text);
    return text;
  }
}
