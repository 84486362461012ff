import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Turns } from './turns.js';

const MORE_THAN_A_ROW_MS = 6;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

afterEach(() => void jest.restoreAllMocks());

describe('turns', () => {
  it('begin work at once while there is little', () => {
    const turns = new Turns();
    const begun: number[] = [];
    // however long another program has the processor meanwhile
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    for (let each = 0; each < 5; each += 1) turns.begin(() => begun.push(each), 'a');
    expect(begun).toEqual([0, 1, 2, 3, 4]);
  });

  it('begin one piece of long work in a turn of the event loop, in the order of coming', async () => {
    const turns = new Turns();
    const begun: number[] = [];
    for (let each = 0; each < 4; each += 1) {
      turns.begin(() => {
        begun.push(each);
        block(MORE_THAN_A_ROW_MS);
      }, 'a');
    }
    expect(begun).toEqual([0]);
    for (let each = 1; each < 4; each += 1) {
      const before = begun.length;
      await nextTurn();
      expect(begun.length).toBeLessThanOrEqual(before + 1);
    }
    await nextTurn();
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it('count in what the work goes on with in promises', async () => {
    const turns = new Turns();
    let done = 0;
    const goOn = async () => {
      await turns.next();
      await Promise.resolve();
      block(MORE_THAN_A_ROW_MS);
      done += 1;
    };
    const all = Promise.all(Array.from({ length: 3 }, goOn));
    let most = 0;
    for (let before = 0; done < 3; before = done) {
      await nextTurn();
      most = Math.max(most, done - before);
    }
    await all;
    expect(most).toBe(1);
  });

  it('go round the callers, and alternate what is new with what goes on', async () => {
    const turns = new Turns();
    const begun: string[] = [];
    turns.begin(() => block(MORE_THAN_A_ROW_MS), 'a');
    for (const work of ['a1', 'a2', 'a3', 'b1']) turns.begin(() => begun.push(work), work.charAt(0));
    const goingOn = ['x1', 'x2'].map(async (work) => {
      await turns.next();
      begun.push(work);
    });
    await Promise.all(goingOn);
    while (begun.length < 6) await nextTurn();
    expect(begun).toEqual(['a1', 'x1', 'b1', 'x2', 'a2', 'a3']);
  });

  it('begin at once again when all that waited is done', async () => {
    const turns = new Turns();
    turns.begin(() => block(MORE_THAN_A_ROW_MS), 'a');
    await turns.next();
    await nextTurn();
    let begun = false;
    turns.begin(() => (begun = true), 'a');
    expect(begun).toBe(true);
  });
});
