import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pack, unpack } from './layout.js';
import { account, accountsOf, balance, accountLists, snapshotOf } from './sample-account.test-support.js';
import { SnapshotBuilder } from './snapshot-builder.js';
import { Snapshot } from './snapshot.js';

const TIMES = { askedAt: { wall: 0, monotonic: 0 }, durationMs: 0 };
const stored = (snapshot: Snapshot) => new Uint8Array(snapshot.buffer).slice();

describe('a snapshot', () => {
  it('gives every account back as it was, and finds it by its id', () => {
    fc.assert(
      fc.property(accountLists, (accounts) => {
        const snapshot = snapshotOf(accounts);
        const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
        expect(accountsOf(snapshot).sort(byId)).toEqual([...accounts].sort(byId));
        for (const { id } of accounts) expect(snapshot.account(snapshot.positionOf(id)).id).toBe(id);
        expect(snapshot.positionOf('no such id')).toBe(-1);
      }),
      { numRuns: 200 },
    );
  });

  it('finds ids that hold anything', () => {
    const ids = [
      '',
      '"',
      '\\',
      'a',
      'a b',
      'ab',
      'é',
      '😀',
      '\ud800',
      'A'.repeat(300),
      '\u0000',
      '}',
      '{"id":"a"',
      '","name":',
      '\\"',
    ];
    const snapshot = snapshotOf(ids.map((id) => account({ id })));
    expect(snapshot.size).toBe(ids.length);
    for (const id of ids) expect(snapshot.account(snapshot.positionOf(id)).id).toBe(id);
    for (const id of ['b', 'a"', 'aa', '😁', '\ud801', 'A'.repeat(301)]) expect(snapshot.positionOf(id)).toBe(-1);
  });

  it('may have 500 currencies, and no more', () => {
    const withCurrencies = (count: number) =>
      Array.from({ length: count }, (_, index) => account({ id: `${index}`, currency: `C${index}`, balances: [] }));
    expect(snapshotOf(withCurrencies(500)).size).toBe(500);
    expect(() => snapshotOf(withCurrencies(501))).toThrow(expect.objectContaining({ code: 'bank-response-invalid' }));
  });

  it('can be stored as its bytes, and is the same when it is made of them again', () => {
    const one = snapshotOf([account({ id: 'b' }), account({ id: 'a', balances: [balance()] })], null);
    const again = new Snapshot(stored(one).buffer, TIMES);
    expect(accountsOf(again)).toEqual(accountsOf(one));
    expect([again.digest, again.asOf, again.complete, again.size]).toEqual([one.digest, one.asOf, null, 2]);
  });

  it('has a digest of its accounts, whatever their order and whenever they were read', () => {
    const [a, b] = [account({ id: 'a' }), account({ id: 'b' })];
    const { digest } = snapshotOf([a, b]);
    expect(digest).toMatch(/^[\w-]{43}$/);
    expect(snapshotOf([b, a], null, { wall: 1, monotonic: 1 }).digest).toBe(digest);
    expect(snapshotOf([a, account({ id: 'b', status: 'Closed' })]).digest).not.toBe(digest);
    expect(snapshotOf([a]).digest).not.toBe(digest);
  });

  it('keeps of an account that came twice the later one', () => {
    const snapshot = snapshotOf([account({ id: 'a', name: 'earlier' }), account({ id: 'a', name: 'later' })]);
    expect(accountsOf(snapshot).map(({ name }) => name)).toEqual(['later']);
  });
});

describe('currencies', () => {
  const withCurrencies = (count: number, id = 'a') =>
    account({ id, balances: Array.from({ length: count }, (_, index) => balance({ currency: `C${index}` })) });

  it('are at most 500 in a list', () => {
    expect(snapshotOf([withCurrencies(499), withCurrencies(499, 'b')]).size).toBe(2);
    expect(() => snapshotOf([withCurrencies(499), account({ id: 'b', currency: 'XXX' })])).toThrow(
      'In the account list, currency has more than 500 different values.',
    );
  });
});

describe('the bytes of a snapshot', () => {
  it('are bounded, however few the bank sent', () => {
    const builder = new SnapshotBuilder(100_000);
    // 100 balances of 2 bytes each become 16 KB
    const add = (id: string) => builder.add(account({ id, balances: Array.from({ length: 100 }, () => balance({})) }));
    expect(() => Array.from({ length: 10 }, (_, index) => add(`${index}`))).toThrow(
      'The account list takes more than 100000 bytes of memory.',
    );
  });
});

describe('a layout', () => {
  it('keeps each section, aligned, and its header', () => {
    const texts = { byteLength: 5, pieces: [Buffer.from('é'), Buffer.from('abc')] };
    const numbers = Uint32Array.of(1, 2 ** 32 - 1);
    const buffer = pack({ a: 'é' }, { bytes: Uint8Array.of(1, 2, 3), none: new Uint32Array(), texts, numbers });
    const kinds = { bytes: 'u8', none: 'u32', texts: 'u8', numbers: 'u32' } as const;
    const { header, sections } = unpack<object, typeof kinds>(buffer, kinds);
    expect(header).toEqual({ a: 'é' });
    expect([[...sections.bytes], sections.none.length, sections.numbers]).toEqual([[1, 2, 3], 0, numbers]);
    expect(Buffer.from(sections.texts).toString()).toBe('éabc');
  });
});
