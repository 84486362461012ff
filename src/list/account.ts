import { isValidIBAN } from 'ibantools';
import type { z } from 'zod';
import type { BankAccount, BankBalance } from '../bank/account-fields.js';
import type { accountSchema, balanceSchema } from './account-schema.js';
import { addDecimals } from './decimal.js';

export type Account = z.infer<typeof accountSchema>;
export type Balance = z.infer<typeof balanceSchema>;

/** Converts the bank's account to one of the API. `id` comes first: accounts are found by how their JSON begins. */
export function toAccount(bank: BankAccount): Account {
  const iban = ibanOf(bank);
  return {
    id: bank.accountId,
    name: bank.friendlyName ?? bank.accountDescription ?? iban ?? bank.accountId,
    description: bank.accountDescription,
    status: bank.status,
    currency: bank.currency,
    protection: bank.protectionType,
    iban,
    ibans: [...bank.ibans],
    identifiers: bank.accountIdentifiers.map(({ account, financialInstitution, country }) => ({
      account,
      financialInstitution,
      country,
    })),
    owner: { id: bank.ownedByCompanyId, name: bank.ownedByCompanyName, number: bank.ownedByCompanyNumber },
    openedAt: bank.openingDate,
    closedAt: bank.closingDate,
    balances: bank.balances.map(toBalance),
    interest: { netRate: bank.netInterestRate, calcMethod: bank.interestCalcMethod },
    overdraft: { rate: bank.overdraftRate, calcMethod: bank.overdraftRateCalcMethod },
  };
}

function toBalance(bank: BankBalance): Balance {
  const { beginOfDayAmount, intraDayAmount } = bank;
  return {
    type: bank.type,
    currency: bank.currency,
    beginOfDay: beginOfDayAmount,
    intraDay: intraDayAmount,
    current:
      beginOfDayAmount === null || intraDayAmount === null ? null : addDecimals(beginOfDayAmount, intraDayAmount),
    blocked: bank.blockedBalanceAmount,
    financialDate: bank.financialDate,
    lastTransactionAt: bank.lastTransactionTimestamp,
  };
}

/** The first of the IBANs, else the first identifier that is a valid IBAN, as the bank writes it. */
function ibanOf({ ibans, accountIdentifiers }: BankAccount): string | null {
  return ibans[0] ?? accountIdentifiers.find(({ account }) => account !== null && isIban(account))?.account ?? null;
}

function isIban(identifier: string): boolean {
  return isValidIBAN(identifier.replaceAll(' ', '').toUpperCase());
}
