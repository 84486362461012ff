import dns, { type LookupAddress } from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Lookups } from './lookups.js';

/** A name server that answers when the test says so. The system's own cannot be had without another resolver. */
const asked: { readonly name: string; readonly answer: (found: string[] | NodeJS.ErrnoException) => void }[] = [];
beforeEach(() => {
  asked.length = 0;
  const lookup = (name: string, _options: unknown, done: (error: Error | null, found?: LookupAddress[]) => void) => {
    const answer = (found: string[] | NodeJS.ErrnoException) =>
      Array.isArray(found)
        ? done(
            null,
            found.map((address) => ({ address, family: 4 })),
          )
        : done(found);
    asked.push({ name, answer });
  };
  jest.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
});
afterEach(() => void jest.restoreAllMocks());

const names = () => asked.map(({ name }) => name);
const failure = (code: string) => Object.assign(new Error(code), { code });
const addressesOf = (found: readonly LookupAddress[]) => found.map(({ address }) => address);
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('lookups of a name', () => {
  it('are one at a time, and shared', async () => {
    const lookups = new Lookups();
    const all = [1, 2, 3].map(() => lookups.find('bank.test'));
    expect(names()).toEqual(['bank.test']);
    asked[0]?.answer(['192.0.2.1']);
    for (const found of await Promise.all(all)) expect(addressesOf(found)).toEqual(['192.0.2.1']);
  });

  it('are made anew for the next attempt, with nothing cached', async () => {
    const lookups = new Lookups();
    for (const address of ['192.0.2.1', '192.0.2.2']) {
      const found = lookups.find('bank.test');
      asked.at(-1)?.answer([address]);
      expect(addressesOf(await found)).toEqual([address]);
    }
    expect(asked).toHaveLength(2);
  });

  it('that answer late serve the attempts after them at once, while the next lookup is under way', async () => {
    const lookups = new Lookups();
    const first = lookups.find('bank.test');
    await delay(1100);
    asked[0]?.answer(['192.0.2.1']);
    await first;
    // the next lookup never ends
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expect(addressesOf(await lookups.find('bank.test'))).toEqual(['192.0.2.1']);
    }
    expect(asked).toHaveLength(2);
  });

  it('that fail reject all that wait for them; the next attempt looks up again', async () => {
    const lookups = new Lookups();
    const both = [lookups.find('bank.test'), lookups.find('bank.test')];
    asked[0]?.answer(failure('EAI_AGAIN'));
    for (const found of both) await expect(found).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    const next = lookups.find('bank.test');
    asked[1]?.answer(['192.0.2.1']);
    expect(addressesOf(await next)).toEqual(['192.0.2.1']);
  });

  it('use the name as written, and without its final dot only if that is unknown', async () => {
    const lookups = new Lookups();
    const found = lookups.find('bank.test.');
    expect(names()).toEqual(['bank.test.']);
    asked[0]?.answer(failure('ENOTFOUND'));
    await tick();
    expect(names()).toEqual(['bank.test.', 'bank.test']);
    asked[1]?.answer(['192.0.2.1']);
    expect(addressesOf(await found)).toEqual(['192.0.2.1']);
  });

  it.each(['192.0.2.1', '2001:db8::1'])('are not needed for %s', async (address) => {
    expect(addressesOf(await new Lookups().find(address))).toEqual([address]);
    expect(asked).toEqual([]);
  });
});

it('lookups of optional names wait for one another, and never for the bank', async () => {
  const lookups = new Lookups();
  const find = (name: string) =>
    new Promise((resolve) => lookups.optional(name, { all: true }, (_error, found) => resolve(found)));
  const optional = [find('redis.test'), find('redis.test'), find('collector.test')];
  const bank = lookups.find('bank.test');
  await tick();
  expect(names().toSorted()).toEqual(['bank.test', 'redis.test']);
  asked.find(({ name }) => name === 'bank.test')?.answer(['192.0.2.1']);
  expect(addressesOf(await bank)).toEqual(['192.0.2.1']);
  asked.find(({ name }) => name === 'redis.test')?.answer(['192.0.2.2']);
  await optional[0];
  await tick();
  expect(names()).toContain('collector.test');
  asked.find(({ name }) => name === 'collector.test')?.answer(['192.0.2.3']);
  expect(await Promise.all(optional)).toEqual(
    ['192.0.2.2', '192.0.2.2', '192.0.2.3'].map((address) => [{ address, family: 4 }]),
  );
});
