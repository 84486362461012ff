import type { BankAccount, BankBalance } from './bank-account.js';
import { Dice, toUuid } from './dice.js';
import { Digits, toDecimalText } from '../../recording/digits.js';
import { createIban, toBic, type IbanCountry } from './iban.js';
import { addOddity } from './oddities.js';

const CURRENCIES = ['EUR', 'EUR', 'EUR', 'GBP', 'USD', 'DKK', 'SEK', 'NOK', 'CHF', 'PLN', 'JPY', 'KWD', 'BHD'] as const;
const COUNTRIES = ['DE', 'DK', 'GB', 'LU', 'NL', 'FR', 'SE', 'CH'] as const satisfies readonly IbanCountry[];
const PURPOSES = [
  'Operating',
  'Payroll',
  'Client funds',
  'Settlement',
  'Tax',
  'Löhne',
  'Trésorerie',
  'Lønkonto',
] as const;
type Company = { readonly name: string; readonly number: string | null };

const COMPANIES: readonly [Company, ...Company[]] = [
  { name: 'Nordlys Handel A/S', number: '000012578' },
  { name: 'Müller & Söhne GmbH', number: 'HRB 4471' },
  { name: "O'Brien Payments Ltd", number: '00451209' },
  { name: 'Société Générale d’Exemple SARL', number: '0042' },
  { name: 'Van der Berg "Import" B.V.', number: null },
  { name: '東京サンプル株式会社', number: '0100-01-000001' },
];

/** The account at that index (from 0). It depends on seed and index only, not on the number of accounts. */
export function createAccount(seed: number, index: number): BankAccount {
  const dice = new Dice(`${seed}:account:${index}`);
  const company = dice.pick(COMPANIES);
  const country = dice.pick(COUNTRIES);
  const currency = dice.pick(CURRENCIES);
  const iban = createIban(country, dice);
  const closed = dice.chance(8);
  const purpose = dice.pick(PURPOSES);
  const account: BankAccount = {
    accountId: toUuid(`${seed}:account:${index}`),
    accountDescription: `${purpose} account ${currency}`,
    accountIdentifiers: [{ account: iban, financialInstitution: dice.chance(80) ? toBic(country) : '', country }],
    ibans: [iban],
    status: closed ? 'Closed' : 'Active',
    currency,
    openingDate: `${dice.int(2015, 2023)}-${two(dice.int(1, 12))}-${two(dice.int(1, 28))}T00:00:00+00:00`,
    closingDate: closed ? `2024-${two(dice.int(1, 12))}-${two(dice.int(1, 28))}T00:00:00+00:00` : null,
    ownedByCompanyId: toUuid(`${seed}:company:${company.name}`),
    ownedByCompanyName: company.name,
    ownedByCompanyNumber: company.number,
    protectionType: dice.pick(['None', 'None', 'None', 'ClientMoney', 'SafeGuarded']),
    balances: [createBalance(dice, currency)],
    friendlyName: dice.pick([`${purpose} ${index + 1}`, `${purpose} ${index + 1}`, '', null]),
    netInterestRate: dice.chance(30) ? new Digits(dice.pick(['3.25', '0.10', '-0.5', '2', '1.750'])) : null,
    interestCalcMethod: dice.chance(30) ? dice.pick(['ACT/360', 'ACT/365']) : null,
    overdraftRate: dice.chance(15) ? new Digits(dice.pick(['9.75', '12'])) : null,
    overdraftRateCalcMethod: dice.chance(15) ? 'ACT/360' : null,
  };
  addOddity(account, index, dice);
  return account;
}

/** Number of decimals of those CURRENCIES that do not have 2 (ISO 4217). */
const DECIMALS: Readonly<Record<string, number>> = { JPY: 0, KWD: 3, BHD: 3 };

/** A balance with the decimals of its currency. Amounts may be negative. */
function createBalance(dice: Dice, currency: string): BankBalance {
  const decimals = DECIMALS[currency] ?? 2;
  const amount = (most: number): Digits => {
    const minor = BigInt(dice.int(-most / 10, most)) * BigInt(dice.pick([1, 10, 100]));
    return new Digits(toDecimalText(minor, decimals));
  };
  return {
    type: 'CurrentBalance',
    currency,
    beginOfDayAmount: amount(10_000_000),
    financialDate: '2026-11-20T00:00:00+00:00',
    intraDayAmount: amount(500_000),
    lastTransactionTimestamp: dice.pick([
      `2026-11-20T${two(dice.int(0, 23))}:${two(dice.int(0, 59))}:${two(dice.int(0, 59))}.${dice.digits(7)}+00:00`,
      `2026-11-19T${two(dice.int(0, 23))}:${two(dice.int(0, 59))}:${two(dice.int(0, 59))}.${dice.digits(3)}Z`,
      null,
    ]),
    ...dice.pick<Pick<BankBalance, 'blockedBalanceAmount'>>([
      {},
      { blockedBalanceAmount: null },
      { blockedBalanceAmount: new Digits('0') },
    ]),
  };
}

function two(part: number): string {
  return part.toString().padStart(2, '0');
}
