import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Account } from './account.js';
import { foldNumber } from './search-texts.js';
import { account, accountListOf, accountLists, balance, names, resultOf } from '../../test/support/sample-snapshots.js';
import { AccountList } from './account-list.js';
import { FILTERS, type FilterName, type Filters } from './match.js';
import { SORT_FIELDS, type Sort } from './sort.js';

const ask = (list: AccountList, filters: Filters, sort: Sort) =>
  resultOf(list.select({ filters: folded(filters), sort })).map(({ id }) => id);

/** As in src/accounts/list-query.ts. */
const folded = (filters: Filters): Filters =>
  Object.fromEntries(
    Object.entries(filters).map(([name, wanted]) => [name, wanted && FILTERS[name as FilterName].fold(wanted)]),
  );

// the model: one simple pass over all accounts, written from docs/api.md independently of the code
const LETTERS = { Ø: 'O', Ł: 'L', Æ: 'AE' };
const fold = (text: string) =>
  Object.entries(LETTERS).reduce(
    (plain, [letter, other]) => plain.replaceAll(letter, other),
    text
      .toUpperCase()
      .normalize('NFD')
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .split(/\s+/)
      .filter(Boolean)
      .join(' '),
  );
const same = (value: string | null, wanted: string | undefined) =>
  wanted === undefined || value?.toLowerCase() === wanted.toLowerCase();
const plainIban = (text: string) => fold(text).replace(/[^\p{L}\p{N}]/gu, '');

function matches(one: Account, { status, currency, ownerId, iban, q }: Filters): boolean {
  const numbers = [...one.ibans, ...one.identifiers.map((each) => each.account)].filter((text) => text !== null);
  const texts = [one.name, one.description, ...numbers, one.owner.id, one.owner.name, one.owner.number];
  return (
    same(one.status, status) &&
    same(one.currency, currency) &&
    same(one.owner.id, ownerId) &&
    (iban === undefined || numbers.some((text) => plainIban(text) === plainIban(iban))) &&
    (q === undefined ||
      texts.some((text) => text !== null && fold(text).includes(fold(q))) ||
      (plainIban(q) !== '' && numbers.some((text) => plainIban(text).includes(plainIban(q)))))
  );
}

const scale = (amount: string): bigint => {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(40, '0'));
};
const TENTHS_OF_MICROSECONDS: Record<string, bigint> = {
  '2023-02-21T00:00:00+00:00': 1676937600_0000000n,
  '2023-02-21': 1676937600_0000000n,
  '2023-02-21T02:00:00+02:00': 1676937600_0000000n,
  '2023-02-21T00:00:00.0000001Z': 1676937600_0000001n,
  '2023-02-21T00:00:00.000000Z': 1676937600_0000000n,
  '0001-01-01T00:00:00': -62135596800_0000000n,
  '1999-12-31T23:59:59.999-11:30': 946726199_9990000n,
  '2025-07-08': 1751932800_0000000n,
};
const collator = new Intl.Collator('en', { numeric: true });
const byValue = (a: string | bigint, b: string | bigint) => (a < b ? -1 : a > b ? 1 : 0);

type Key = readonly (string | bigint)[] | null;
const keyOf: Record<(typeof SORT_FIELDS)[number], (one: Account) => Key> = {
  name: ({ name }) => [name],
  currency: ({ currency }) => (currency === null ? null : [currency]),
  status: ({ status }) => (status === null ? null : [status]),
  openedAt: ({ openedAt }) => {
    const instant = TENTHS_OF_MICROSECONDS[openedAt ?? ''];
    return instant === undefined ? null : [instant];
  },
  current: ({ balances }) => {
    const first = balances.find(({ type }) => type === 'CurrentBalance');
    return !first || first.currency === null || first.current === null ? null : [first.currency, scale(first.current)];
  },
};

function model(accounts: readonly Account[], filters: Filters, sort: Sort): string[] {
  const [field, descending] = [sort.replace('-', '') as keyof typeof keyOf, sort.startsWith('-')];
  const compare =
    field === 'name' ? (a: string | bigint, b: string | bigint) => collator.compare(String(a), String(b)) : byValue;
  return accounts
    .filter((one) => matches(one, filters))
    .sort((a, b) => {
      const [x, y] = [keyOf[field](a), keyOf[field](b)];
      if (x === null || y === null) return Number(x === null) - Number(y === null) || byValue(a.id, b.id);
      const order = x.reduce((found, part, index) => found || compare(part, y[index] as string), 0);
      return (descending ? -order : order) || byValue(a.id, b.id);
    })
    .map(({ id }) => id);
}

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const filterSets: fc.Arbitrary<Filters> = fc.record({
  status: optional(fc.constantFrom('ACTIVE', 'closed', 'ødelagt', 'none')),
  currency: optional(fc.constantFrom('eur', 'Usd', 'xxx')),
  ownerId: optional(fc.constantFrom('OWNER-1', 'owner-2', 'owner')),
  iban: optional(fc.constantFrom('de89370400440532013000', 'DK50 0040 0440 1162 43', '12345', '1234', 'DE')),
  q: optional(
    fc.oneof(
      fc.constantFrom('lohne', 'ö', 'STRASSE', 'de89', '1234', 'owner-', 'σ', 'i'),
      names.filter((name) => foldNumber(name) !== ''),
    ),
  ),
});
const sorts = fc.constantFrom<Sort>(...SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const));

describe('a list', () => {
  it('is filtered and sorted like the model', () => {
    fc.assert(
      fc.property(accountLists, filterSets, sorts, (accounts, filters, sort) => {
        expect(ask(accountListOf(accounts), filters, sort)).toEqual(model(accounts, filters, sort));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['', '"', '\\', 'A\nB', 'x,"A', '\n"A"\n'])('compares whole values: %j', (status) => {
    const list = accountListOf([account({ id: 'whole', status: 'A' }), account({ id: 'other', status })]);
    expect(ask(list, { status: 'a' }, 'name')).toEqual(['whole']);
    expect(ask(list, { status }, 'name')).toEqual(['other']);
  });

  it('sorts names by the same collation on every machine, numbers by value, ties by id', () => {
    const names = ['Zebra', 'Ärlig', 'Apa 10', 'Öland', 'e\u0301', 'Apa 2', 'é'];
    const list = accountListOf(names.map((name, index) => account({ id: String(index), name })));
    // the composed é is equal, but has the greater id
    expect(ask(list, {}, 'name')).toEqual(['5', '2', '1', '4', '6', '3', '0']);
    expect(ask(list, {}, '-name')).toEqual(['0', '3', '4', '6', '1', '2', '5']);
    const same = ['Apa 1', 'Apa 01', 'A\u00ADpa 1'].map((name, index) => account({ id: String(index), name }));
    for (const sort of ['name', '-name'] as const) expect(ask(accountListOf(same), {}, sort)).toEqual(['0', '1', '2']);
  });

  it('collates only the start of a name, so that long names stay fast', () => {
    const slow = '\u0f71'.repeat(3990);
    const accounts = ['b', 'a'].map((end, index) => account({ id: String(index), name: slow + end }));
    expect(ask(accountListOf(accounts), {}, 'name')).toEqual(['1', '0']);
    expect(ask(accountListOf(accounts), {}, '-name')).toEqual(['0', '1']);
  });

  it('searches the first 500 characters of each text', () => {
    const at = (start: number) => `${'x'.repeat(start)}END`;
    const list = accountListOf([
      account({ id: 'within', name: 'n', description: at(497) }),
      account({ id: 'beyond', name: 'n', description: at(498), ibans: ['DE', at(498)] }),
      account({ id: 'iban', name: 'n', ibans: ['DE', at(497)] }),
    ]);
    for (let time = 0; time < 2; time++) expect(ask(list, { q: 'end' }, 'name')).toEqual(['iban', 'within']);
    expect(ask(list, { q: 'xen' }, 'name')).toEqual(['beyond', 'iban', 'within']);
  });

  it.each([
    ['acme payments', 'Acme\u00A0Payments'],
    ['co-operative', 'Co\u00AD-oper\u200Bative'],
    ['acme\u2003 \tpayments', 'Acme Payments'],
    ['acme payments', 'Acme\r\n\u0085Payments'],
  ])('finds %j in %j: any white space is one space, format characters are nothing', (q, name) => {
    expect(ask(accountListOf([account({ id: 'a', name }), account({ id: 'b' })]), { q }, 'name')).toEqual(['a']);
  });

  it('searches a bounded number of characters of each account', () => {
    const ibans = Array.from({ length: 100 }, (_, index) => `${index}x`.padEnd(500, 'x'));
    const list = accountListOf([account({ id: 'a', ibans })]);
    const found = ibans.filter((iban) => ask(list, { q: iban.slice(0, 99) }, 'name').length > 0);
    expect(found.length).toBeGreaterThan(10);
    expect(found.length).toBeLessThan(20);
    // all of an ordinary account
    const many = Array.from({ length: 200 }, (_, index) => `DE${String(index).padStart(32, '0')}`);
    const usual = accountListOf([account({ id: 'b', ibans: many })]);
    expect(many.every((iban) => ask(usual, { iban }, 'name').length === 1)).toBe(true);
  });

  it('finds a UUID in any letter case, and other ids only as they are', () => {
    const id = '3F2504E0-4f89-41d3-9a0c-0305e82c3301';
    const list = accountListOf([account({ id }), account({ id: 'Other' })]);
    for (const asked of [id, id.toLowerCase(), id.toUpperCase()]) expect(list.find(asked)?.id).toBe(id);
    expect(list.find('other')).toBeUndefined();
  });

  it('compares only whole numbers: the start of a long number does not match', () => {
    const long = `A${'\u0301'.repeat(600)}B`;
    const list = accountListOf([account({ id: 'long', ibans: [long] }), account({ id: 'short', ibans: ['Á'] })]);
    expect(ask(list, { iban: 'a' }, 'name')).toEqual(['short']);
  });

  it('finds accounts by any id, and keeps the later of two accounts with the same id', () => {
    const ids = ['', '"', '\\', 'a', 'a b', 'é', '😀', '\ud800', '\u0000', '__proto__'];
    const list = accountListOf([...ids.map((id) => account({ id })), account({ id: 'a', name: 'later' })]);
    expect(list.size).toBe(ids.length);
    for (const id of ids) expect(list.find(id)?.id).toBe(id);
    expect(list.find('a')?.name).toBe('later');
    for (const id of ['b', 'constructor', '😁']) expect(list.find(id)).toBeUndefined();
  });

  it('has at most 500 currencies, of accounts and balances together', () => {
    const balances = Array.from({ length: 499 }, (_, index) => balance({ currency: `C${index}` }));
    const accounts = [account({ id: 'a', balances }), account({ id: 'b', balances })];
    expect(accountListOf(accounts).size).toBe(2);
    expect(() => accountListOf([...accounts, account({ id: 'c', currency: 'XXX' })])).toThrow(
      'In the account list, currency has more than 500 different values.',
    );
  });

  it('finds the same accounts in each search, however few folded texts are kept', () => {
    for (const maxKeptLength of [0, 60, undefined]) {
      const list = new AccountList(maxKeptLength);
      for (const id of ['a', 'b', 'c']) list.add(account({ id, name: `Straße ${id}` }));
      for (const wanted of ['strasse b', 'strasse b', 'strasse']) {
        const found = resultOf(list.select({ filters: folded({ q: wanted }), sort: 'name' }));
        expect(found.map(({ id }) => id)).toEqual(wanted === 'strasse' ? ['a', 'b', 'c'] : ['b']);
      }
    }
  });

  it('has at most 200 000 accounts', () => {
    const list = new AccountList();
    const same = account();
    for (let index = 0; index < 200_000; index++) list.add({ ...same, id: `a-${index}` });
    expect(list.add({ ...same, id: 'a-0' })).toBe(false);
    expect(() => list.add({ ...same, id: 'new' })).toThrow(
      'In the account list, accountId has more than 200000 different values.',
    );
  });
});
