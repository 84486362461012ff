import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Account } from '../../snapshot/account.js';
import { account, balance, readings, snapshotOf } from '../../snapshot/sample-account.test-support.js';
import { createMatcher, select, type Filters } from '../../snapshot/select.js';
import type { Snapshot } from '../../snapshot/snapshot.js';
import { StateHistory } from './state-history.js';

const ALL = () => true;
const FILTERS: Filters[] = [{}, { currency: 'eur' }, { status: 'ACTIVE' }, { q: 'lohne' }, { iban: '12345' }];
const named = (name: string, id = 'a-1') => account({ id, name });

async function historyOf(...lists: (readonly Account[])[]): Promise<StateHistory> {
  const history = new StateHistory();
  for (const list of lists) await history.advance(snapshotOf(list));
  return history;
}

/** The model: all accounts that match, by id, with their content. */
function shown(snapshot: Snapshot, filters: Filters): Map<string, string> {
  const selection = select(snapshot, filters, { field: 'name', descending: false });
  const positions = Array.from(selection.slice(0, selection.total));
  return new Map(positions.map((at) => [snapshot.id(at), snapshot.json(at).toString()]));
}

describe('the last states', () => {
  it('tell for any filter what differs from the present one', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(readings, { minLength: 2, maxLength: 5 }), async (lists) => {
        const snapshots = lists.map((list) => snapshotOf(list));
        const history = new StateHistory();
        const numbers: number[] = [];
        for (const snapshot of snapshots) {
          await history.advance(snapshot);
          numbers.push(history.present);
        }
        const last = snapshots.at(-1) as Snapshot;
        for (const [index, snapshot] of snapshots.entries()) {
          for (const filters of FILTERS) {
            const [before, after] = [shown(snapshot, filters), shown(last, filters)];
            const told = history.since(numbers[index] as number, createMatcher(filters));
            const added = [...after.keys()].filter((id) => !before.has(id));
            const removed = [...before.keys()].filter((id) => !after.has(id));
            const changed = [...after.keys()].filter((id) => before.has(id) && before.get(id) !== after.get(id));
            expect(told?.added.toSorted()).toEqual(added.toSorted());
            expect(told?.removed.toSorted()).toEqual(removed.toSorted());
            // what changed and changed back is told as well
            expect(told?.changed).toEqual(expect.arrayContaining(changed));
            if (index === snapshots.length - 2) expect(told?.changed).toHaveLength(changed.length);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('the totals have changed where a CurrentBalance has, or came or went', async () => {
    const rich = account({ balances: [balance()] });
    const since = async (...lists: Account[][]) => (await historyOf(...lists)).since(1, ALL)?.totalsChanged;
    expect(await since([rich], [{ ...rich, name: 'Another' }])).toBe(false);
    expect(await since([rich], [{ ...rich, balances: [balance(), balance({ type: 'Other' })] }])).toBe(false);
    expect(await since([rich], [{ ...rich, balances: [balance({ current: '1.21' })] }])).toBe(true);
    expect(await since([rich], [])).toBe(true);
    expect(await since([account()], [account(), account({ id: 'a-2' })])).toBe(false);
  });

  it('are found by their digest, the last one of that name; the same data is no new state', async () => {
    const [one, other] = [snapshotOf([named('one')]), snapshotOf([named('other')])];
    const history = new StateHistory();
    for (const each of [one, snapshotOf([named('one')]), other, snapshotOf([named('one')])])
      await history.advance(each);
    expect([history.numberOf(other.digest), history.numberOf(one.digest), history.present]).toEqual([2, 3, 3]);
    expect(history.numberOf('nothing')).toBeNull();
  });

  it('are 20', async () => {
    const lists = Array.from({ length: 21 }, (_, index) => [named(`${index}`)]);
    const history = await historyOf(...lists);
    const numbers = lists.map((list) => history.numberOf(snapshotOf(list).digest));
    expect(numbers.slice(0, 3)).toEqual([null, 2, 3]);
    expect(history.since(2, ALL)?.changed).toEqual(['a-1']);
  });

  it('of more than 5 000 changes at once it is not told which', async () => {
    const list = (count: number) => Array.from({ length: count }, (_, index) => account({ id: `a-${index}` }));
    expect((await historyOf([], list(5000))).since(1, ALL)?.added).toHaveLength(5000);
    const history = await historyOf([], list(5001), list(5000));
    expect(history.since(1, ALL)).toBeNull();
    expect(history.since(2, ALL)?.removed).toHaveLength(1);
  });

  it('of accounts with long texts fewer are kept, the newest', async () => {
    const long = (round: number) =>
      Array.from({ length: 50 }, (_, index) => named(`${round}`.repeat(30_000), `a-${index}`));
    const history = await historyOf(...Array.from({ length: 13 }, (_, index) => long(index % 10)));
    expect(history.since(1, ALL)).toBeNull();
    expect(history.since(12, ALL)?.changed).toHaveLength(50);
  });

  it('of accounts with long texts that come, or grow, none are kept beyond the limit either', async () => {
    const list = (name: string) => Array.from({ length: 600 }, (_, index) => named(name, `a-${index}`));
    const all = list('x'.repeat(60_000));
    const [long, next] = [snapshotOf(all), snapshotOf([...all, named('x', 'b')])];
    for (const before of [[], list('x')]) {
      const history = await historyOf(before);
      await history.advance(long);
      expect(history.since(1, ALL)).toBeNull();
      await history.advance(next);
      expect(history.since(2, ALL)?.added).toEqual(['b']);
    }
  });

  it('are gone when all is forgotten, in the middle of a comparison as well', async () => {
    const [one, other] = [snapshotOf([named('one')]), snapshotOf([named('other')])];
    const history = new StateHistory();
    await history.advance(one);
    const advancing = history.advance(other);
    history.clear();
    await advancing;
    expect([history.snapshot, history.numberOf(one.digest), history.numberOf(other.digest)]).toEqual([
      null,
      null,
      null,
    ]);
    await history.advance(snapshotOf([named('one')]));
    expect(history.numberOf(one.digest)).toBe(2);
    expect(history.since(1, ALL)).toBeNull();
  });

  it('are compared in small steps: others have their turn meanwhile', async () => {
    const list = (name: string) =>
      Array.from({ length: 60_000 }, (_, index) => named(index % 20 === 0 ? name : 'same', `a-${index}`));
    const [one, other] = [snapshotOf(list('one')), snapshotOf(list('other'))];
    const history = new StateHistory();
    await history.advance(one);
    let advanced = false;
    const advancing = history.advance(other).then(() => (advanced = true));
    let turns = 0;
    while (!advanced) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    await advancing;
    expect(history.since(1, ALL)?.changed).toHaveLength(3000);
    // in one piece it would be one or two; in steps of 5 ms there are ten and more
    expect(turns).toBeGreaterThan(3);
  });
});
