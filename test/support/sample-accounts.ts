import { listAccounts, type Handler } from './pretend-bank.js';

/** Recognizable values in the bank's responses. Anywhere other than in a response to a caller, they prove a leak. */
export const PLANTED = {
  iban: 'DE89370400440532013000',
  beginOfDay: '7654321.98',
  intraDay: '-1357.24',
  current: '7652964.74',
  text: 'planted-body-text',
} as const;

/** A plain account in the bank's format, with the recognizable IBAN and amounts. */
export function sampleAccount(number: number, change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    accountId: sampleId(number),
    accountDescription: 'Operating account EUR',
    accountIdentifiers: [{ account: PLANTED.iban, financialInstitution: 'COBADEFFXXX', country: 'DE' }],
    ibans: [PLANTED.iban],
    status: 'Active',
    currency: 'EUR',
    openingDate: '2023-02-21T00:00:00+00:00',
    closingDate: null,
    ownedByCompanyId: '5d4cbb0a-6a07-4f4c-9d0e-1f2f3a4b5c6d',
    ownedByCompanyName: 'Nordlys Handel A/S',
    ownedByCompanyNumber: '000012578',
    protectionType: 'None',
    balances: [
      {
        type: 'CurrentBalance',
        currency: 'EUR',
        beginOfDayAmount: Number(PLANTED.beginOfDay),
        financialDate: '2026-11-20T00:00:00+00:00',
        intraDayAmount: Number(PLANTED.intraDay),
        lastTransactionTimestamp: '2026-11-20T11:22:33.4567891+00:00',
      },
    ],
    friendlyName: `Operating ${number}`,
    netInterestRate: null,
    interestCalcMethod: null,
    overdraftRate: null,
    overdraftRateCalcMethod: null,
    ...change,
  };
}

/** A plain account with this balance and no change today. */
export const accountWith = (number: number, amount: number, change: Record<string, unknown> = {}) =>
  sampleAccount(number, {
    balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: amount, intraDayAmount: 0 }],
    ...change,
  });

export const sampleId = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

export const sampleAccounts = (count: number): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, index) => sampleAccount(index + 1));

/** A list of this many plain accounts, in pages. */
export const listSample = (count = 3): Handler => listAccounts(sampleAccounts(count));
