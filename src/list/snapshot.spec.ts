import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { account, accountsOf, balance, accountLists, snapshotOf } from '../../test/support/sample-snapshots.js';
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
        for (const { id, balances } of accounts) {
          const position = snapshot.positionOf(id);
          expect([snapshot.account(position).id, snapshot.balances(position)]).toEqual([id, balances]);
        }
        expect(snapshot.positionOf('no such id')).toBe(-1);
      }),
      { numRuns: 100 },
    );
  });

  it('finds ids that hold anything', () => {
    const ids = ['', '"', '\\', 'a', 'a b', 'ab', 'é', '😀', '\ud800', '\u0000', '}', '{"id":"a"', '","name":', '\\"'];
    const snapshot = snapshotOf(ids.map((id) => account({ id })));
    expect(snapshot.size).toBe(ids.length);
    for (const id of ids) expect(snapshot.account(snapshot.positionOf(id)).id).toBe(id);
    for (const id of ['b', 'a"', 'aa', '😁', '\ud801', 'aaa']) expect(snapshot.positionOf(id)).toBe(-1);
  });

  it('finds the balances with any text in the fields', () => {
    const balances = [balance({ type: ']', currency: '],"interest":{' }), balance({ financialDate: '"' })];
    const snapshot = snapshotOf([account({ name: ',"balances":[', description: ',"interest":{', balances })]);
    expect(snapshot.balances(0)).toEqual(balances);
  });

  it('may have at most 500 currencies, of accounts and balances together', () => {
    const balances = Array.from({ length: 499 }, (_, index) => balance({ currency: `C${index}` }));
    const accounts = [account({ id: 'a', balances }), account({ id: 'b', balances })];
    expect(snapshotOf(accounts).size).toBe(2);
    expect(() => snapshotOf([...accounts, account({ id: 'c', currency: 'XXX' })])).toThrow(
      'In the account list, currency has more than 500 different values.',
    );
  });

  it('can be stored as its bytes, and is the same when it is made of them again', () => {
    const one = snapshotOf([account({ id: 'b' }), account({ id: 'a', balances: [balance()] })], null);
    const again = new Snapshot(stored(one).buffer, TIMES);
    expect(accountsOf(again)).toEqual(accountsOf(one));
    expect([again.digest, again.asOf, again.complete, again.size]).toEqual([one.digest, one.asOf, null, 2]);
  });

  it('has a digest of its accounts that depends neither on their order nor on the time of the refresh', () => {
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
