import { describe, expect, it } from '@jest/globals';
import { balancesOf, movedSince } from './balance.js';
import type { Account } from './gateway.js';

const list = (...amounts: [id: string, current: string][]) =>
  balancesOf(amounts.map(([id, current]) => ({ id, balances: [{ type: 'CurrentBalance', current }] }) as Account));

describe('accounts that have moved', () => {
  it('are those of the list before with another balance', () => {
    const before = list(['a', '1'], ['b', '2'], ['c', '3']);
    expect([...movedSince(before, list(['b', '2.5'], ['c', '3'], ['d', '4']))]).toEqual(['b']);
  });

  it('its twin: one that was not in it has not moved, and what is not in the list is not kept', () => {
    expect([...movedSince(list(), list(['a', '1']))]).toEqual([]);
    expect([...list(['a', '1']).keys()]).toEqual(['a']);
  });
});
