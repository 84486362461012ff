import type { Digits } from '../../recording/digits.js';

/** One entry of the account list, as the bank sends it (docs/bank.md#fields-of-an-account). */
export interface BankAccount {
  accountId: string;
  accountDescription: string | null;
  accountIdentifiers: BankIdentifier[] | null;
  ibans: string[] | null;
  status: string;
  currency: string;
  openingDate: string;
  closingDate: string | null;
  ownedByCompanyId: string;
  ownedByCompanyName: string;
  ownedByCompanyNumber: string | null;
  protectionType: string;
  balances: BankBalance[] | null;
  friendlyName: string | null;
  netInterestRate: Digits | null;
  interestCalcMethod: string | null;
  overdraftRate: Digits | null;
  overdraftRateCalcMethod: string | null;
}

interface BankIdentifier {
  account: string;
  financialInstitution: string | null;
  country: string | null;
}

export interface BankBalance {
  type: string;
  currency: string;
  beginOfDayAmount: Digits;
  financialDate: string;
  intraDayAmount: Digits;
  lastTransactionTimestamp: string | null;
  /** Undocumented; the real service sends a number or null, or omits it. */
  blockedBalanceAmount?: Digits | null;
}
