import type { Account, Balance } from '../src/generated/types.gen.js';
import { addDecimals } from '../../src/list/decimal.js';

type PartialAccount = Partial<Omit<Account, 'balances'>> & { readonly balances?: readonly Partial<Balance>[] };

let lastId = 0;

export function fakeAccount(partial: PartialAccount = {}): Account {
  const id = partial.id ?? `account-${(lastId += 1)}`;
  const ibans = partial.ibans ?? (partial.iban ? [partial.iban] : []);
  const iban = partial.iban ?? ibans[0] ?? null;
  const description = partial.description ?? null;
  const currency = partial.currency ?? partial.balances?.[0]?.currency ?? 'EUR';
  return {
    status: 'Active',
    protection: 'None',
    identifiers: [],
    owner: { id: null, name: null, number: null },
    openedAt: null,
    closedAt: null,
    interest: { netRate: null, calcMethod: null },
    overdraft: { rate: null, calcMethod: null },
    ...partial,
    id,
    name: partial.name ?? description ?? iban ?? id,
    description,
    currency: partial.currency === null ? null : currency,
    iban,
    ibans,
    balances: (partial.balances ?? [{ beginOfDay: '0.00', intraDay: '0.00' }]).map((each) => toBalance(each, currency)),
  };
}

const AMOUNTS = ['beginOfDay', 'intraDay', 'current', 'blocked'] as const;

/** @throws TypeError for an amount that the gateway could not return, such as a number */
export function assertAmounts(balance: Partial<Balance>): void {
  for (const name of AMOUNTS) {
    const amount: unknown = balance[name] ?? '0';
    if (typeof amount === 'string' && /^-?\d+(\.\d+)?$/.test(amount)) continue;
    throw new TypeError(`${name} must be a decimal string, such as '19435.50', or null: ${amount}`);
  }
}

function toBalance(given: Partial<Balance>, currency: string): Balance {
  assertAmounts(given);
  const isCurrentAlone = given.current && given.beginOfDay === undefined && given.intraDay === undefined;
  const partial = isCurrentAlone ? { ...given, beginOfDay: given.current as string, intraDay: '0' } : given;
  const { beginOfDay = null, intraDay = null } = partial;
  const sum = beginOfDay === null || intraDay === null ? null : addDecimals(beginOfDay, intraDay);
  return {
    type: 'CurrentBalance',
    currency,
    blocked: null,
    financialDate: null,
    lastTransactionAt: null,
    current: sum,
    ...partial,
    beginOfDay,
    intraDay,
  };
}

const balance = (
  beginOfDay: string | null,
  intraDay: string | null,
  more: Partial<Balance> = {},
): Partial<Balance> => ({
  beginOfDay,
  intraDay,
  blocked: '0',
  financialDate: '2026-11-20T00:00:00+00:00',
  lastTransactionAt: '2026-11-19T14:09:51.067Z',
  ...more,
});

const owner = { id: 'd9696ece-0a85-8f04-b92b-1128bc1aa045', name: 'Nordlys Handel A/S', number: '000012578' };

/** Fixed accounts with cases that pages get wrong. */
export const DEFAULT_ACCOUNTS: readonly Account[] = [
  {
    id: 'plain',
    name: 'Payroll',
    iban: 'LU060408592157516019',
    owner,
    openedAt: '2017-06-03T00:00:00+00:00',
    balances: [balance('19435.50', '-12.05')],
  },
  {
    id: 'two-currencies',
    name: 'Client funds 2',
    balances: [balance('100.10', '0.05'), balance('2500', '-300', { currency: 'JPY' })],
  },
  { id: 'null-amount', name: 'Client funds 10', balances: [balance(null, '1.00')] },
  { id: 'no-balance', name: 'Escrow', status: 'Pending', balances: [] },
  {
    id: 'closed',
    name: 'Old account',
    status: 'Closed',
    openedAt: '2016-01-04',
    closedAt: '2024-09-11T00:00:00+00:00',
    balances: [balance('0.00', '0.00')],
  },
  { id: 'many-digits', name: 'Treasury', currency: 'KWD', balances: [balance('12345678901234567.891', '0.009')] },
  {
    id: 'right-to-left',
    name: 'حساب العملاء',
    owner: { id: null, name: 'שלום בע"מ', number: '0042' },
    balances: [balance('-0.01', '0.00')],
  },
  {
    id: 'hostile-name',
    name: '<img src=x onerror=alert(1)>',
    description: '=SUM(A1)',
    balances: [balance('1', '0', { currency: 'USDC' })],
    currency: 'USDC',
  },
].map((partial) => fakeAccount(partial));
