import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readings } from './sample-account.test-support.js';
import { share } from './share.js';

describe('share', () => {
  it('changes no value, and gives the old object exactly when nothing is different', () => {
    fc.assert(
      fc.property(readings, readings, (before, now) => {
        before.forEach((old, index) => {
          const fresh = now[index];
          if (!fresh) return;
          const text = JSON.stringify(fresh);
          const old_ = JSON.stringify(old);
          const shared = share(old, structuredClone(fresh));
          expect(JSON.stringify(shared)).toBe(text);
          expect(JSON.stringify(old)).toBe(old_);
          expect(shared === old).toBe(text === old_);
        });
      }),
    );
  });

  it('keeps the parts that are equal', () => {
    const before = { id: 'a', owner: { name: 'x' }, balances: [{ amount: '1' }, { amount: '2' }] };
    const shared = share(before, { id: 'a', owner: { name: 'x' }, balances: [{ amount: '1' }, { amount: '3' }] });
    expect(shared).not.toBe(before);
    expect(shared.owner).toBe(before.owner);
    expect(shared.balances[0]).toBe(before.balances[0]);
    expect(shared.balances[1]).toEqual({ amount: '3' });
  });

  it.each([
    [[1], [1, 2]],
    [[1, 2], [1]],
    [[], {}],
    [{}, []],
    [null, {}],
    [{ a: null }, { a: 'x' }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [undefined, { a: 1 }],
  ])('tells %j from %j', (before, now) => {
    expect(share(before as unknown, structuredClone(now))).toEqual(now);
    expect(share(before as unknown, structuredClone(now))).not.toBe(before);
  });
});
