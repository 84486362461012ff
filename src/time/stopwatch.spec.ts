import { expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { Stopwatch } from './stopwatch.js';

it('a stopwatch counts time with any task under way once, and no other time', async () => {
  const clock = new FakeClock();
  const watch = new Stopwatch(clock);
  clock.advance(100);
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const timed = [watch.time(first.promise), watch.time(second.promise)];
  clock.advance(10);
  expect(watch.ms).toBe(10);
  first.reject(new Error('failed'));
  await expect(timed[0]).rejects.toThrow('failed');
  clock.advance(5);
  second.resolve();
  await timed[1];
  clock.advance(100);
  expect(watch.ms).toBe(15);
  await watch.time(Promise.resolve());
  expect(watch.ms).toBe(15);
});
