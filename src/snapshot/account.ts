import { isValidIBAN } from 'ibantools';
import type { BankAccount, BankBalance } from '../bank/account-fields.js';
import { addDecimals } from './decimal.js';

/** A balance of an account. Amounts are decimals with the bank's digits; dates are the bank's text, unchanged. */
export interface Balance {
  type: string | null;
  currency: string | null;
  beginOfDay: string | null;
  intraDay: string | null;
  current: string | null;
  blocked: string | null;
  financialDate: string | null;
  lastTransactionAt: string | null;
}

/** An account of the API (docs/api.md#account). Every field is always present; arrays and objects are never null. */
export interface Account {
  id: string;
  name: string;
  description: string | null;
  status: string | null;
  currency: string | null;
  protection: string | null;
  iban: string | null;
  ibans: string[];
  identifiers: { account: string | null; financialInstitution: string | null; country: string | null }[];
  owner: { id: string | null; name: string | null; number: string | null };
  openedAt: string | null;
  closedAt: string | null;
  balances: Balance[];
  interest: { netRate: string | null; calcMethod: string | null };
  overdraft: { rate: string | null; calcMethod: string | null };
}

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
