import { describe, expect, it } from '@jest/globals';
import Big from 'big.js';
import type { Account } from '../../src/snapshot/account.js';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { json } from '../support/pretend-bank.js';
import { PLANTED, sampleAccount, sampleId } from '../support/sample-accounts.js';
import { askAccounts, getToken, start } from '../support/sandbox.js';

const bank = await bankForFile();

/** Lists exactly these through the gateway; by id, since the list is sorted by name. */
async function listed(...accounts: object[]): Promise<(account: object) => Account> {
  bank.onAccounts = (_request, response) => json(response, 200, { result: accounts });
  const gateway = await startGateway(bank);
  const { accounts: found } = (await gateway.get('/api/v1/accounts')).json as { accounts: Account[] };
  return (account) => {
    const one = found.find(({ id }) => id === (account as { accountId: string }).accountId);
    if (!one) throw new Error('not listed');
    return one;
  };
}

const EMPTY = {
  name: sampleId(1),
  description: null,
  status: null,
  currency: null,
  protection: null,
  iban: null,
  ibans: [],
  identifiers: [],
  owner: { id: null, name: null, number: null },
  openedAt: null,
  closedAt: null,
  balances: [],
  interest: { netRate: null, calcMethod: null },
  overdraft: { rate: null, calcMethod: null },
};

const NAMES = Object.keys(sampleAccount(1)).filter((name) => name !== 'accountId');
const all = (value: unknown) => Object.fromEntries(NAMES.map((name) => [name, value]));

describe('every account field is always there', () => {
  it.each([
    ['nothing', {}],
    ['null', all(null)],
    ['""', all('')],
  ])('when the bank sends %s but the id', async (_name, change) => {
    const account = { accountId: sampleId(1), ...change };
    expect((await listed(account))(account)).toEqual({ id: sampleId(1), ...EMPTY });
  });

  it.each([
    ['nothing', {}],
    [
      'null',
      {
        type: null,
        currency: null,
        beginOfDayAmount: null,
        intraDayAmount: null,
        blockedBalanceAmount: null,
        financialDate: null,
        lastTransactionTimestamp: null,
      },
    ],
  ])('nested ones too, when the bank sends %s in them', async (_name, balance) => {
    const account = { accountId: sampleId(1), balances: [balance, null], accountIdentifiers: [{}], ibans: ['', null] };
    expect((await listed(account))(account)).toEqual({
      id: sampleId(1),
      ...EMPTY,
      identifiers: [{ account: null, financialInstitution: null, country: null }],
      balances: [
        {
          type: null,
          currency: null,
          beginOfDay: null,
          intraDay: null,
          current: null,
          blocked: null,
          financialDate: null,
          lastTransactionAt: null,
        },
      ],
    });
  });

  it('and holds what the bank sent, text for text', async () => {
    const account = sampleAccount(1, {
      closingDate: '2025-07-08',
      netInterestRate: 3.25,
      interestCalcMethod: 'ACT/360',
      overdraftRate: 9.75,
      overdraftRateCalcMethod: 'ACT/365',
    });
    expect((await listed(account))(account)).toEqual({
      id: sampleId(1),
      name: 'Operating 1',
      description: 'Operating account EUR',
      status: 'Active',
      currency: 'EUR',
      protection: 'None',
      iban: PLANTED.iban,
      ibans: [PLANTED.iban],
      identifiers: [{ account: PLANTED.iban, financialInstitution: 'COBADEFFXXX', country: 'DE' }],
      owner: { id: '5d4cbb0a-6a07-4f4c-9d0e-1f2f3a4b5c6d', name: 'Nordlys Handel A/S', number: '000012578' },
      openedAt: '2023-02-21T00:00:00+00:00',
      closedAt: '2025-07-08',
      balances: [
        {
          type: 'CurrentBalance',
          currency: 'EUR',
          beginOfDay: PLANTED.beginOfDay,
          intraDay: PLANTED.intraDay,
          current: PLANTED.current,
          blocked: null,
          financialDate: '2026-11-20T00:00:00+00:00',
          lastTransactionAt: '2026-11-20T11:22:33.4567891+00:00',
        },
      ],
      interest: { netRate: '3.25', calcMethod: 'ACT/360' },
      overdraft: { rate: '9.75', calcMethod: 'ACT/365' },
    });
  });

  it('the name is the friendly name, else the description, else the IBAN, else the id', async () => {
    const none = { friendlyName: '', accountDescription: '', ibans: null };
    const bare = { ...none, accountIdentifiers: null };
    const number = { account: '0012345678', financialInstitution: '202959', country: 'GB' };
    const accounts = [
      sampleAccount(1),
      sampleAccount(2, { friendlyName: null }),
      sampleAccount(3, { ...none, ibans: ['', PLANTED.iban] }),
      sampleAccount(4, { ...none, accountIdentifiers: [number, { account: PLANTED.iban }] }),
      sampleAccount(5, { ...none, accountIdentifiers: [number] }),
      sampleAccount(6, bare),
    ];
    const find = await listed(...accounts);
    expect(accounts.map((account) => find(account).name)).toEqual([
      'Operating 1',
      'Operating account EUR',
      PLANTED.iban,
      PLANTED.iban,
      sampleId(5),
      sampleId(6),
    ]);
    expect(accounts.map((account) => find(account).iban)).toEqual([
      PLANTED.iban,
      PLANTED.iban,
      PLANTED.iban,
      PLANTED.iban,
      null,
      null,
    ]);
  });
});

interface RawBalance {
  beginOfDayAmount: string;
  intraDayAmount: string;
  blockedBalanceAmount?: string | null;
}
interface RawAccount {
  accountId: string;
  balances: RawBalance[] | null;
  netInterestRate: string | null;
  overdraftRate: string | null;
}

/** The bank's JSON with each number as the text it stands as; written here again, not taken from what is tested. */
function parseKeepingDigits(text: string): { result: RawAccount[] } {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? context?.source : value,
  ) as { result: RawAccount[] };
}

/** 1.5E3 → 1500, with the exponent written out (docs/bank.md#amounts). */
const writtenOut = (digits: string) => (/e/i.test(digits) ? new Big(digits).toFixed() : digits);

describe("accounts keep the bank's digits", () => {
  it('120 accounts over three pages of 50, each amount as the bank itself sends it', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox, { BANK_PAGE_SIZE: '50' });
    const answer = await askInTime(gateway, '/api/v1/accounts?pageSize=1000');
    expect(answer.json.page).toEqual({ number: 1, size: 1000, total: 120, hasMore: false });
    expect(answer.json.snapshot).toMatchObject({ stale: false, complete: true });
    const pages = sandbox.requests
      .filter(({ endpoint }) => endpoint === 'accounts')
      .map(({ pageNumber, pageSize }) => [pageNumber, pageSize]);
    expect(pages.sort(([a], [b]) => Number(a) - Number(b))).toEqual([
      [1, 50],
      [2, 50],
      [3, 50],
    ]);

    const raw = await askAccounts(sandbox, await getToken(sandbox), '?PageSize=1000');
    const sent = parseKeepingDigits(raw.text).result;
    const got = new Map((answer.json.accounts as Account[]).map((account) => [account.id, account]));
    expect(sent).toHaveLength(120);
    expect(got.size).toBe(120);
    let amounts = 0;
    for (const account of sent) {
      const mine = got.get(account.accountId);
      expect(mine?.balances).toHaveLength(account.balances?.length ?? 0);
      expect(mine?.interest.netRate).toBe(account.netInterestRate);
      expect(mine?.overdraft.rate).toBe(account.overdraftRate);
      account.balances?.forEach((balance, index) => {
        const { beginOfDayAmount, intraDayAmount, blockedBalanceAmount } = balance;
        expect(mine?.balances[index]).toMatchObject({
          beginOfDay: writtenOut(beginOfDayAmount),
          intraDay: writtenOut(intraDayAmount),
          blocked: blockedBalanceAmount ?? null,
        });
        const current = mine?.balances[index]?.current ?? 'missing';
        expect(new Big(current).eq(new Big(beginOfDayAmount).plus(intraDayAmount))).toBe(true);
        amounts += 3;
      });
    }
    expect(amounts).toBeGreaterThan(300);
    // the ones that a double would spoil are among them
    for (const digits of ['"19435.50"', '"12345678901234567.89"', '"-0.01"', '"1500"', '"88.000"']) {
      expect(answer.text).toContain(digits);
    }
    expect(answer.text).not.toMatch(/"(beginOfDay|intraDay|current|blocked|netRate|rate)":-?\d/);
  });

  it('a bank that gives one page of a thousand is asked once', async () => {
    const sandbox = await start();
    const gateway = await startGateway(sandbox);
    expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(120);
    expect(sandbox.requests.filter(({ endpoint }) => endpoint === 'accounts')).toHaveLength(1);
  });
});
