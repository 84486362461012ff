import { describe, expect, it } from '@jest/globals';
import { WaitingPlaces } from './waiting-places.js';

const takeMany = (places: WaitingPlaces, client: string, count: number) =>
  Array.from({ length: count }, () => places.take(client));
const lostOf = (places: readonly { readonly lost: AbortSignal }[]) => places.filter(({ lost }) => lost.aborted).length;

describe('places to wait for the bank', () => {
  it('one client may take them all, and no more', () => {
    const places = new WaitingPlaces(4);
    const taken = takeMany(places, 'a', 4);
    expect(() => places.take('a')).toThrow('4 callers are waiting for the bank already');
    taken[1]?.leave();
    places.take('a');
    expect(lostOf(taken)).toBe(0);
  });

  it('when there are none, the client with the most gives its oldest to others, until all have as many', () => {
    const places = new WaitingPlaces(4);
    const greedy = takeMany(places, 'a', 4);
    const other = takeMany(places, 'b', 2);
    expect(greedy.map(({ lost }) => lost.aborted)).toEqual([true, true, false, false]);
    expect(greedy[0]?.lost.reason).toMatchObject({ code: 'overloaded' });
    expect(() => places.take('b')).toThrow('waiting');
    expect(() => places.take('a')).toThrow('waiting');
    places.take('c');
    expect(lostOf(greedy) + lostOf(other)).toBe(3);
  });

  it('a place that was left or lost is given back once', () => {
    const places = new WaitingPlaces(2);
    const [first, second] = takeMany(places, 'a', 2);
    places.take('b');
    first?.leave();
    first?.leave();
    expect(() => places.take('b')).toThrow('waiting');
    second?.leave();
    second?.leave();
    places.take('b');
    expect(() => places.take('b')).toThrow('waiting');
  });
});
