import { isValidIBAN } from 'ibantools';
import type { BankAccount, BankBalance } from '../bank/bank-account.js';
import type { Account, Balance } from './account.js';
import { addDecimals } from './decimal.js';

/** The bank's account in our words, field by field (contract §3). */
export function toAccount(bank: BankAccount): Account {
  const iban = bank.ibans[0] ?? firstIban(bank);
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
  const { beginOfDayAmount: beginOfDay, intraDayAmount: intraDay } = bank;
  return {
    type: bank.type,
    currency: bank.currency,
    beginOfDay,
    intraDay,
    current: beginOfDay === null || intraDay === null ? null : addDecimals(beginOfDay, intraDay),
    blocked: bank.blockedBalanceAmount,
    financialDate: bank.financialDate,
    lastTransactionAt: bank.lastTransactionTimestamp,
  };
}

/** The first identifier that is a valid IBAN, as it stands there. */
function firstIban(bank: BankAccount): string | null {
  const found = bank.accountIdentifiers.find(({ account }) => account !== null && isIban(account));
  return found?.account ?? null;
}

function isIban(text: string): boolean {
  return isValidIBAN(text.replaceAll(' ', '').toUpperCase());
}
