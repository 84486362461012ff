import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createFakeGateway } from '../testing/fake-gateway.js';
import { createClient, type ClientOptions, type ObservedState } from '../src/index.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

const GATEWAY: ClientOptions = { baseUrl: 'http://gateway.test' };
const MAX_AGE_MS = 60_000;

/** A gateway that responds to each call with the result of `next`. */
function open() {
  const urls: string[] = [];
  const next = { current: '1', stale: false, problem: null as [number, string] | null };
  const fetch = async (url: unknown, { headers }: { headers?: unknown } = {}) => {
    urls.push(String(url));
    if (next.problem) {
      const [status, code] = next.problem;
      return new Response(JSON.stringify({ code, owner: 'bank', title: 'Away' }), {
        status,
        headers: { 'content-type': 'application/problem+json', 'retry-after': '5' },
      });
    }
    const asOf = new Date().toISOString();
    const expiresAt = new Date(Date.now() + MAX_AGE_MS).toISOString();
    const etag = `W/"${next.current}${next.stale}"`;
    const about = {
      etag,
      age: '0',
      'cache-control': 'private, max-age=9',
      'snapshot-as-of': asOf,
      'snapshot-expires-at': expiresAt,
    };
    if (new Headers(headers as Headers).get('if-none-match') === etag)
      return new Response(null, { status: 304, headers: about });
    const snapshot = {
      asOf,
      expiresAt,
      stale: next.stale,
      complete: true,
    };
    const accounts = [{ id: 'a', balances: [{ current: next.current }] }];
    const page = { number: 1, size: 50, total: 1, hasMore: false };
    return new Response(JSON.stringify({ accounts, page, snapshot }), { headers: about });
  };
  return { client: createClient({ ...GATEWAY, fetch: fetch as typeof globalThis.fetch }), urls, next };
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    jest.advanceTimersByTime(Math.min(left, 1000));
    for (let turns = 0; turns < 5; turns += 1) await tick();
  }
}

/** An observer with a listener, which collects the states. */
async function follow({ client }: ReturnType<typeof open>) {
  const observed = client.observe({ currency: 'EUR' });
  const states: ObservedState[] = [observed.getSnapshot()];
  const unsubscribe = observed.subscribe(() => void states.push(observed.getSnapshot()));
  await pass(1);
  return { observed, states, unsubscribe, last: () => observed.getSnapshot() };
}

describe('observe', () => {
  it('returns one object for all equivalent queries, and polls once for all of them, while somebody subscribes', async () => {
    const { client, urls } = open();
    const one = client.observe({ currency: 'EUR', q: '' });
    expect(client.observe({ currency: 'EUR' })).toBe(one);
    expect(client.observe({ currency: 'USD' })).not.toBe(one);
    await pass(30_000);
    expect(urls).toEqual([]);
    const unsubscribe = [one.subscribe(() => undefined), one.subscribe(() => undefined)];
    await pass(1);
    expect(urls).toEqual(['http://gateway.test/api/v1/accounts?currency=EUR']);
    unsubscribe[0]?.();
    unsubscribe[0]?.();
    await pass(10_000);
    expect(urls).toHaveLength(2);
    unsubscribe[1]?.();
    await pass(60_000);
    expect(urls).toHaveLength(2);
    expect(one.getSnapshot()).toMatchObject({ status: 'loading', data: null });
  });

  it('continues without a poll if a component replaces another', async () => {
    const gateway = open();
    const { observed, unsubscribe, last } = await follow(gateway);
    unsubscribe();
    const again = observed.subscribe(() => undefined);
    await pass(1);
    expect([gateway.urls.length, last().status]).toEqual([1, 'current']);
    again();
  });

  it('polls anew in each test of an app, even if fake timers replace queueMicrotask', async () => {
    const { client, urls } = open();
    const { subscribe } = client.observe();
    for (let tests = 1; tests <= 2; tests += 1) {
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
      const unsubscribe = subscribe(() => undefined);
      await tick();
      expect(urls).toHaveLength(tests);
      unsubscribe();
      await tick();
      jest.useRealTimers();
    }
  });

  it('keeps at most 100 unused observers, and every used one', async () => {
    const { client } = open();
    const used = client.observe({ q: 'used' });
    const unsubscribe = used.subscribe(() => undefined);
    const unused = client.observe({ q: 'unused' });
    for (let index = 0; index < 200; index += 1) client.observe({ q: String(index) });
    expect(client.observe({ q: 'used' })).toBe(used);
    expect(client.observe({ q: 'unused' })).not.toBe(unused);
    unsubscribe();
  });

  it('has the same frozen state until something changes; a confirmation has new times and the same accounts', async () => {
    const { states, last, unsubscribe } = await follow(open());
    const first = last();
    expect(first).toMatchObject({ status: 'current', error: null, nextAttemptAt: null });
    expect(last()).toBe(first);
    expect([first, first.data, first.data?.accounts[0]?.balances].every((each) => Object.isFrozen(each))).toBe(true);
    await pass(10_000);
    expect(states.map(({ status }) => status)).toEqual(['loading', 'current', 'current']);
    expect(last().data?.accounts).toBe(first.data?.accounts);
    expect(Date.parse(last().asOf ?? '') - Date.parse(first.asOf ?? '')).toBeGreaterThanOrEqual(9000);
    expect(last().data?.snapshot).toMatchObject({ asOf: last().asOf, expiresAt: last().expiresAt });
    unsubscribe();
  });

  it('follows a failure: copy, expired, and current again', async () => {
    const gateway = open();
    const { last, unsubscribe } = await follow(gateway);
    const { asOf } = last();
    gateway.next.problem = [503, 'bank-error'];
    await pass(10_000);
    expect(last()).toMatchObject({
      status: 'copy',
      asOf,
      data: { accounts: [{ id: 'a' }] },
      error: { code: 'bank-error' },
    });
    expect(Date.parse(last().nextAttemptAt ?? '') - Date.now()).toBeGreaterThan(3000);
    await pass(MAX_AGE_MS);
    expect(last()).toMatchObject({
      status: 'expired',
      data: null,
      asOf: null,
      expiresAt: null,
      error: { code: 'bank-error' },
    });
    gateway.next.problem = null;
    await pass(10_000);
    expect(last()).toMatchObject({
      status: 'current',
      data: { accounts: [{ id: 'a' }] },
      error: null,
      nextAttemptAt: null,
    });
    unsubscribe();
  });

  it('shows a stale response of the gateway as a copy', async () => {
    const gateway = open();
    gateway.next.stale = true;
    const { last, unsubscribe } = await follow(gateway);
    expect(last()).toMatchObject({ status: 'copy', error: null });
    unsubscribe();
  });

  it('shows nothing once access is withdrawn', async () => {
    const gateway = open();
    const { last, unsubscribe } = await follow(gateway);
    gateway.next.problem = [502, 'access-not-granted'];
    await pass(10_000);
    expect(last()).toMatchObject({ status: 'expired', data: null, error: { code: 'access-not-granted' } });
    unsubscribe();
  });

  it('ends after a 4xx; the shown data disappears when it expires', async () => {
    const gateway = open();
    const { last, unsubscribe } = await follow(gateway);
    gateway.next.problem = [403, 'client-not-allowed'];
    await pass(10_000);
    expect(last()).toMatchObject({ status: 'ended', data: { accounts: [{}] }, nextAttemptAt: null });
    await pass(MAX_AGE_MS);
    expect([gateway.urls.length, last()]).toMatchObject([2, { status: 'ended', data: null }]);
    unsubscribe();
  });

  it('tries again after it has ended with refresh, which shows at once', async () => {
    const gateway = open();
    const { observed, last, unsubscribe } = await follow(gateway);
    gateway.next.problem = [403, 'client-not-allowed'];
    await pass(10_000);
    observed.refresh();
    expect(last()).toMatchObject({ status: 'copy', data: { accounts: [{}] }, error: { status: 403 } });
    await pass(1);
    expect(last().status).toBe('ended');
    await pass(MAX_AGE_MS);
    gateway.next.problem = [503, 'bank-error'];
    observed.refresh();
    await pass(1);
    expect(last()).toMatchObject({ status: 'expired', data: null, error: { status: 503 } });
    expect(last().nextAttemptAt).not.toBeNull();
    gateway.next.problem = null;
    await pass(5000);
    expect(last()).toMatchObject({ status: 'current', error: null });
    await pass(10_000);
    expect(gateway.urls).toHaveLength(6);
    unsubscribe();
  });

  it('is never loading beside an error: without a first response, nothing may be shown', async () => {
    const gateway = open();
    gateway.next.problem = [503, 'bank-error'];
    const { last, unsubscribe } = await follow(gateway);
    expect(last()).toMatchObject({ status: 'expired', data: null, error: { code: 'bank-error' } });
    gateway.next.problem = null;
    await pass(5000);
    expect(last()).toMatchObject({ status: 'current', error: null });
    unsubscribe();
  });

  it('refreshes at once with refresh', async () => {
    const gateway = open();
    const { observed, last, unsubscribe } = await follow(gateway);
    gateway.next.current = '2';
    observed.refresh();
    await pass(1);
    expect(last().data).toMatchObject({ accounts: [{ balances: [{ current: '2' }] }] });
    unsubscribe();
  });
});

describe('the lists and totals of one page', () => {
  /** A page with accounts and totals, of a gateway whose balances move. */
  async function openPage() {
    const fake = createFakeGateway();
    fake.set('moving');
    const client = createClient({ ...GATEWAY, fetch: fake.fetch });
    const [list, totals] = [client.observe(), client.observeBalances()];
    const leave = [list.subscribe(() => undefined), totals.subscribe(() => undefined)];
    await pass(1);
    return { fake, list, totals, close: () => leave.forEach((each) => each()) };
  }

  it('are the bodies of their routes, each polled once', async () => {
    const { fake, totals, close } = await openPage();
    const { data, status } = totals.getSnapshot();
    expect([status, data?.totals[0]?.currency]).toEqual(['current', 'EUR']);
    expect(fake.calls.map(({ path }) => path)).toEqual(['/api/v1/accounts', '/api/v1/balances']);
    close();
  });

  it('show the same snapshot: when one gets a newer one, the other polls at once', async () => {
    const { fake, list, totals, close } = await openPage();
    await pass(3000);
    list.refresh();
    await pass(1);
    expect(totals.getSnapshot().asOf).toBe(list.getSnapshot().asOf);
    expect(fake.calls.slice(2).map(({ path }) => path)).toEqual(['/api/v1/accounts', '/api/v1/balances']);
    close();
  });

  it('the negative case: do not wake each other for ever if each call has a newer snapshot', async () => {
    const { client, urls } = open();
    const leave = ['a', 'b'].map((q) => client.observe({ q }).subscribe(() => undefined));
    await pass(1);
    for (let second = 1; second <= 8; second += 1) await pass(1000);
    expect(urls.length).toBeLessThanOrEqual(3);
    leave.forEach((each) => each());
  });
});
