import type { BankAccount, BankBalance } from './bank-account.js';
import type { Dice } from './dice.js';
import { Digits } from '../../recording/digits.js';
import { createIban, toBic } from './iban.js';

const EVERY = 100;

type Oddity = (account: BankAccount, dice: Dice) => void;

const withFields =
  (fields: Partial<BankAccount>): Oddity =>
  (account) => {
    Object.assign(account, fields);
  };

/** Oddities of the real service. Each occurs once in every hundred accounts, starting with the second account. */
const ODDITIES: readonly Oddity[] = [
  (account) => setAmounts(account, '19435.50', '-0.01'),
  (account) => setAmounts(account, '12345678901234567.89', '0.01'),
  withFields({
    ibans: null,
    accountIdentifiers: [{ account: '0012345678', financialInstitution: '202959', country: 'GB' }],
  }),
  withFields({ friendlyName: '=SUM(A1)' }),
  withFields({ balances: null }),
  withFields({ balances: [] }),
  (account) => {
    account.status = 'Closed';
    account.closingDate = '2025-07-08';
    setAmounts(account, '0', '0');
  },
  withFields({ friendlyName: '', accountDescription: '' }),
  (account) => setAmounts(account, '999', '1.5E3'),
  addCurrencies,
  (account) => setCurrency(account, 'JPY', '123456789', '-5000'),
  (account) => setCurrency(account, 'KWD', '1050.125', '-0.375'),
  (account) => setCurrency(account, 'BHD', '88.000', '0.005'),
  (account) => setAmounts(account, '-2500000.00', '-99.90'),
  withFields({ openingDate: '0001-01-01T00:00:00', friendlyName: "Côte d'Azur – Filiale" }),
  withFields({ openingDate: '2021-06-30T23:59:59.1234567+02:00', friendlyName: '🐟 Fisk & Smørrebrød 🥖' }),
  withFields({ openingDate: '2020-02-29T12:00:00Z', friendlyName: '株式会社サンプル 口座' }),
  (account) => {
    account.friendlyName = 'Ελλάδα "κύριος" \\ حساب';
    setBalance(account, { lastTransactionTimestamp: null, blockedBalanceAmount: new Digits('150.00') });
  },
  withFields({ accountIdentifiers: null, ibans: null, friendlyName: null, accountDescription: null }),
  (account, dice) => {
    const more = createIban('NL', dice);
    account.ibans = [...(account.ibans ?? []), more];
    account.accountIdentifiers?.push({ account: more, financialInstitution: toBic('NL'), country: '' });
  },
  (account) =>
    setBalance(account, { lastTransactionTimestamp: '2026-11-20T14:03:22.5+02:00', financialDate: '2026-11-20' }),
  withFields({
    netInterestRate: new Digits('3.25'),
    interestCalcMethod: 'ACT/360',
    overdraftRate: new Digits('9.750'),
    overdraftRateCalcMethod: null,
  }),
  (account) => setCurrency(account, 'USDC', '1000.000000', '0.000001'),
];

/** Applies the oddity for this index, if there is one. */
export function addOddity(account: BankAccount, index: number, dice: Dice): void {
  ODDITIES[(index % EVERY) - 1]?.(account, dice);
}

function setAmounts(account: BankAccount, beginOfDay: string, intraDay: string): void {
  setBalance(account, { beginOfDayAmount: new Digits(beginOfDay), intraDayAmount: new Digits(intraDay) });
}

function setCurrency(account: BankAccount, currency: string, beginOfDay: string, intraDay: string): void {
  account.currency = currency;
  account.accountDescription = `Operating account ${currency}`;
  setBalance(account, { currency });
  setAmounts(account, beginOfDay, intraDay);
}

function setBalance(account: BankAccount, change: Partial<BankBalance>): void {
  account.balances = (account.balances ?? []).map((balance) => ({ ...balance, ...change }));
}

/** A collection account: one balance for each currency it holds. */
function addCurrencies(account: BankAccount, dice: Dice): void {
  const [first] = account.balances ?? [];
  if (!first) return;
  const others = ['USD', 'GBP', 'SEK'].map((currency) => ({
    ...first,
    currency,
    beginOfDayAmount: new Digits(`${dice.int(1, 90_000)}.${dice.digits(2)}`),
    intraDayAmount: new Digits(`-${dice.int(1, 900)}.5`),
  }));
  account.balances = [{ ...first }, ...others];
}
