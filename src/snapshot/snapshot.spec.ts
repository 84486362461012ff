import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toTextList } from './bytes.js';
import { LayoutUnreadable, pack, unpack } from './layout.js';
import { account, accountsOf, balance, accountLists, snapshotOf } from './sample-account.test-support.js';
import { Snapshot } from './snapshot.js';
import { SnapshotBuilder } from './snapshot-builder.js';

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
    const ids = ['', '"', '\\', 'a', 'a b', 'ab', 'é', '😀', '\ud800', 'A'.repeat(300), '\u0000', '}', '{"id":"a"'];
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

  it('keeps of an account that came twice the one of the later page, whichever came first', () => {
    const builder = new SnapshotBuilder();
    const entry = (current: string) => ({ balances: [balance({ current })] });
    builder.add(account({ id: 'a', name: 'second page', ...entry('2') }), 2);
    builder.add(account({ id: 'a', name: 'first page', ...entry('1') }), 1);
    builder.add(account({ id: 'b', name: 'older', ...entry('3') }), 2);
    builder.add(account({ id: 'b', name: 'newer', ...entry('4') }), 2);
    const snapshot = new Snapshot(builder.finish({ asOf: '', complete: false }), TIMES);
    expect(accountsOf(snapshot).map(({ name }) => name)).toEqual(['second page', 'newer']);
    expect(snapshot.entries.positions).toHaveLength(2);
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

describe('bytes that are no snapshot', () => {
  const whole = stored(snapshotOf([account()]));
  it.each([
    ['none', new Uint8Array()],
    ['a few', new Uint8Array(7)],
    ['others', new Uint8Array(5000).fill(7)],
    ['half of them', whole.slice(0, whole.length / 2)],
    ['all but the last', whole.slice(0, -8)],
  ])('%s are refused', (_name, bytes) => {
    expect(() => new Snapshot(bytes.buffer, TIMES)).toThrow(LayoutUnreadable);
  });

  it('of another version are refused', () => {
    const other = whole.slice();
    other[0] = 0;
    expect(() => new Snapshot(other.buffer, TIMES)).toThrow('it is no snapshot of this version');
  });
});

describe('a layout', () => {
  it('keeps each section, aligned, and its header', () => {
    const buffer = pack(
      { a: 'é' },
      {
        bytes: new Uint8Array([1, 2, 3]),
        floats: new Float64Array([0.5, -0]),
        none: new Uint32Array(),
        shorts: new Uint16Array([65535]),
      },
      { texts: ['é', '', 'ab'], noTexts: [] },
    );
    const { header, sections } = unpack(buffer, {
      bytes: 'u8',
      floats: 'f64',
      none: 'u32',
      shorts: 'u16',
      texts: 'u8',
      textsOffsets: 'u32',
      noTexts: 'u8',
    } as const);
    expect(header).toEqual({ a: 'é' });
    expect([[...sections.bytes], [...sections.floats], sections.none.length, [...sections.shorts]]).toEqual([
      [1, 2, 3],
      [0.5, -0],
      0,
      [65535],
    ]);
    expect(toTextList({ bytes: sections.texts, offsets: sections.textsOffsets })).toEqual(['é', '', 'ab']);
    expect(sections.noTexts).toHaveLength(0);
  });

  it('lacks a section that was not packed, or as another kind', () => {
    const buffer = pack({}, { a: new Uint8Array(3) });
    expect(() => unpack(buffer, { b: 'u8' })).toThrow(LayoutUnreadable);
    expect(() => unpack(buffer, { a: 'u32' })).toThrow(LayoutUnreadable);
  });
});
