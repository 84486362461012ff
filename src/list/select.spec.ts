import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countTurns } from '../../test/support/count-turns.js';
import type { Account } from './account.js';
import { foldNumber } from './fold-text.js';
import { account, names, accountLists, snapshotOf } from '../../test/support/sample-snapshots.js';
import { select, type Filters, type Sort } from './select.js';
import type { Snapshot } from './snapshot.js';
import { SORT_FIELDS } from './sort-order.js';

const ask = async (snapshot: Snapshot, filters: Filters, sort: Sort) =>
  Array.from(await select(snapshot, filters, sort), (position) => snapshot.account(position).id);

// the model: one plain pass over all accounts, written from docs/api.md by other means than the code
const fold = (text: string) => text.toUpperCase().normalize('NFD').replace(/\p{M}/gu, '');
const same = (value: string | null, wanted: string | undefined) =>
  wanted === undefined || value?.toUpperCase() === wanted.toUpperCase();
const plainIban = (text: string) => text.replaceAll(' ', '').toUpperCase();

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
      numbers.some((text) => fold(plainIban(text)).includes(fold(plainIban(q)))))
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

describe('queries of a snapshot', () => {
  it('are answered as by a plain pass over all accounts', async () => {
    await fc.assert(
      fc.asyncProperty(accountLists, filterSets, sorts, async (accounts, filters, sort) => {
        expect(await ask(snapshotOf(accounts), filters, sort)).toEqual(model(accounts, filters, sort));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['', '"', '\\', 'A\nB', 'x,"A', '\n"A"\n'])('compares a value as a whole: %j', async (status) => {
    const snapshot = snapshotOf([account({ id: 'whole', status: 'A' }), account({ id: 'other', status })]);
    expect(await ask(snapshot, { status: 'a' }, 'name')).toEqual(['whole']);
    expect(await ask(snapshot, { status }, 'name')).toEqual(['other']);
  });

  it('orders names by the same rules on every machine, numbers as numbers, equal ones by id', async () => {
    const names = ['Zebra', 'Ärlig', 'Apa 10', 'Öland', 'e\u0301', 'Apa 2', 'é'];
    const snapshot = snapshotOf(names.map((name, index) => account({ id: String(index), name })));
    // é in one unit has the greater id, and is otherwise equal
    expect(await ask(snapshot, {}, 'name')).toEqual(['5', '2', '1', '4', '6', '3', '0']);
    expect(await ask(snapshot, {}, '-name')).toEqual(['0', '3', '4', '6', '1', '2', '5']);
  });

  it('search much text in slices: others have their turn meanwhile', async () => {
    const accounts = Array.from({ length: 3000 }, (_, index) =>
      account({ id: `id-${index}`, name: `${'x'.repeat(3900)} ${index}` }),
    );
    const snapshot = snapshotOf(accounts);
    const { result, turns } = await countTurns(() => ask(snapshot, { q: 'X 2999' }, 'name'));
    expect(result).toEqual(['id-2999']);
    expect(turns).toBeGreaterThan(1);
  });
});
