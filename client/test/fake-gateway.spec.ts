import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as msw from 'msw';
import { setupServer } from 'msw/node';
import * as msw2 from 'msw-2';
import { setupServer as setupServer2 } from 'msw-2/node';
import { createClient, type GatewayProblem, type Snapshot } from '../src/index.js';
import type { FakeGateway } from '../src/testing.js';
import { createFakeGateway, fakeAccount, mswHandlers } from '../testing/index.js';
import { until } from '../../test/support/until.js';

let fake: FakeGateway;
beforeEach(() => {
  fake = createFakeGateway();
});

const open = (fetch = fake.fetch) => createClient({ baseUrl: 'https://apps.test/bank', clientName: 'spec', fetch });
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    ({ code }: GatewayProblem) => code,
  );

describe('the scenes', () => {
  it('slow: the older copy after a second, then the new one; without a copy the caller waits', async () => {
    const { snapshot } = await open().listAccounts();
    fake.set('slow');
    const waiting = open().listAccounts();
    await tick();
    fake.advance(1000);
    expect((await waiting).snapshot).toEqual({ ...snapshot, stale: true });
    fake.advance(4000);
    expect((await open().listAccounts()).snapshot).toMatchObject({ stale: false });
    fake.reset();
    fake.set('slow');
    const first = open().listAccounts();
    await tick();
    fake.advance(5000);
    expect((await first).snapshot.stale).toBe(false);
  });

  it.each<[string, () => void]>([
    ['scene', () => fake.set('broken' as 'down')],
    ['endpoint', () => fake.fail('bank-error', { endpoint: 'health' as 'accounts' })],
    ['ms', () => fake.advance('5' as never)],
  ])('the negative case: another %s is a TypeError that names it', (name, call) => {
    expect(call).toThrow(expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(name) }));
  });

  it.each(['well', 'down', 'moving'] as const)('respond within a tick of fake timers: %s', async (scene) => {
    jest.useFakeTimers();
    fake.set(scene);
    await open().listAccounts();
    jest.useRealTimers();
  });
});

describe('with fake timers', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('the fake and a watch follow the same timers', async () => {
    const seen: (string | Snapshot)[] = [];
    const watch = open().watch(
      {},
      {
        onData: ({ snapshot }) => void seen.push(snapshot.stale ? 'copy' : 'current'),
        onError: ({ code }) => void seen.push(code),
        onExpired: () => void seen.push('expired'),
      },
    );
    const pass = async (seconds: number) => {
      for (let left = seconds; left > 0; left -= 5) {
        await jest.advanceTimersByTimeAsync(5000);
        await tick();
      }
    };
    await pass(25);
    expect([seen, fake.calls.map(({ status }) => status)]).toEqual([['current'], [200, 304, 304]]);
    fake.set('down');
    await pass(320);
    expect(seen.slice(0, 4)).toEqual(['current', 'copy', 'expired', 'bank-error']);
    fake.set('well');
    await pass(40);
    expect(seen.at(-1)).toBe('current');
    watch.close();
  });
});

describe('fail', () => {
  it('applies to an endpoint and a number of calls, with a time to retry after', async () => {
    fake.fail('bank-error', { endpoint: 'balances', times: 2, retryAfterMs: 2000 });
    expect(await codeOf(open().listAccounts())).toBe('ok');
    for (let count = 0; count < 2; count += 1) {
      await expect(open().getBalances({}, { retry: false })).rejects.toMatchObject({ retryAfterMs: 2000 });
    }
    expect(await codeOf(open().getBalances())).toBe('ok');
  });

  it('the negative case: rejects times below 1, and a retryAfterMs that is no number', () => {
    for (const times of [0, -1, NaN]) expect(() => fake.fail('bank-error', { times })).toThrow('times must be');
    expect(() => fake.fail('bank-error', { retryAfterMs: NaN })).toThrow('retryAfterMs must be');
  });
});

describe('fetch', () => {
  it('accepts a Request, a relative URL and any base path, and records each call', async () => {
    await fake.fetch(
      new Request('https://apps.test/a/b/api/v1/balances?currency=EUR', { headers: { 'X-Client-Name': 'spec' } }),
    );
    await fake.fetch('/api/v1/accounts');
    await fake.fetch(new URL('https://apps.test/api/v1/none'), { method: 'HEAD' });
    expect(fake.calls.map(({ at: _at, ...call }) => call)).toEqual([
      { method: 'GET', path: '/api/v1/balances', query: { currency: 'EUR' }, clientName: 'spec', status: 200 },
      { method: 'GET', path: '/api/v1/accounts', query: {}, clientName: null, status: 200 },
      { method: 'HEAD', path: '/api/v1/none', query: {}, clientName: null, status: 404 },
    ]);
    fake.reset();
    expect(fake.calls).toEqual([]);
  });

  it('ends with the reason of the signal, before and during the wait', async () => {
    await expect(fake.fetch('/api/v1/accounts', { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow(
      'left',
    );
    fake.set('slow');
    const leaving = new AbortController();
    const call = fake.fetch(new Request('http://localhost/api/v1/accounts', { signal: leaving.signal }));
    await tick();
    leaving.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
  });
});

describe('the accounts', () => {
  it('are fixed by default, and contain cases that pages get wrong', async () => {
    const { accounts } = await open().listAccounts();
    expect((await open(createFakeGateway().fetch).listAccounts()).accounts).toEqual(accounts);
    const balances = accounts.flatMap((account) => account.balances);
    expect(accounts.some(({ status }) => status === 'Closed')).toBe(true);
    expect(accounts.some((account) => new Set(account.balances.map(({ currency }) => currency)).size === 2)).toBe(true);
    expect(accounts.some(({ name }) => /\p{Script=Arabic}/u.test(name))).toBe(true);
    expect(balances.some(({ current }) => current === null)).toBe(true);
    expect(balances.some(({ current }) => (current ?? '').replace('.', '').length === 20)).toBe(true);
  });

  it('can be set by the test, as a copy', async () => {
    const own = [
      fakeAccount({ id: 'a', iban: 'LU060408592157516019', balances: [{ beginOfDay: '1.10', intraDay: '0.1' }] }),
    ];
    const client = open(createFakeGateway({ accounts: own, now: '2026-01-02T03:04:05Z' }).fetch);
    own[0]!.name = 'changed';
    const { account, snapshot } = await client.getAccount('a');
    expect(account).toMatchObject({ name: 'LU060408592157516019', ibans: ['LU060408592157516019'] });
    expect(account.balances[0]).toMatchObject({ type: 'CurrentBalance', currency: 'EUR', current: '1.20' });
    expect(snapshot.asOf).toMatch(/^2026-01-02T03:04:0/);
  });

  it.each<[string, unknown]>([
    ['a number', 100],
    ['an exponent', '1e5'],
    ['digits in groups', '19,423.45'],
    ['nothing', ''],
  ])('the negative case: an amount that is %s is a TypeError that names it', (_name, amount) => {
    const intraDay = amount as string;
    expect(() => fakeAccount({ balances: [{ beginOfDay: '1', intraDay }] })).toThrow(
      'intraDay must be a decimal string',
    );
    const account = fakeAccount();
    const wrong = { ...account, balances: [{ ...account.balances[0]!, intraDay }] };
    expect(() => createFakeGateway({ accounts: [wrong] })).toThrow(/intraDay/);
  });

  it('have totals, and move, even if a test sets only the current amount', async () => {
    const own = createFakeGateway({ accounts: [fakeAccount({ balances: [{ current: '100.00' }] })] });
    const { totals } = await open(own.fetch).getBalances();
    expect(totals).toMatchObject([{ current: '100.00', beginOfDay: '100.00', missing: 0 }]);
    own.set('moving');
    const { accounts } = await open(own.fetch).listAccounts();
    expect(accounts[0]?.balances[0]?.current).not.toBe('100.00');
  });

  it('the negative case: more than 1000 accounts, or one without a field, are a TypeError that names it', () => {
    const many = Array.from({ length: 1001 }, (_none, index) => fakeAccount({ id: String(index) }));
    expect(() => createFakeGateway({ accounts: many })).toThrow('accounts must be at most 1000: 1001');
    const { balances: _balances, ...without } = fakeAccount();
    expect(() => createFakeGateway({ accounts: [without as never] })).toThrow('accounts[0].balances is wrong');
    expect(() => createFakeGateway({ now: 'never' })).toThrow('now must be a time');
  });
});

const OTHER = 'https://other.test/';
describe.each<[string, typeof msw, typeof setupServer]>([
  ['MSW 3', msw, setupServer],
  ['MSW 2', msw2 as never, setupServer2 as never],
])('%s', (_name, { http, HttpResponse }, setup) => {
  const handlersOf = (gateway: FakeGateway) => mswHandlers(gateway) as msw.RequestHandler[];
  const server = setup();
  const client = createClient({ baseUrl: 'https://apps.test' });
  let logged: jest.Spied<typeof console.error>;
  beforeEach(() => {
    logged = jest.spyOn(console, 'error');
    server.listen();
    server.use(
      ...handlersOf(fake),
      http.get(OTHER, () => HttpResponse.text('other')),
    );
  });
  afterEach(() => {
    server.close();
    expect(logged).not.toHaveBeenCalled();
    logged.mockRestore();
  });

  it("answers the client's calls, and leaves others to other handlers", async () => {
    expect((await client.listAccounts({ q: 'payroll' })).page.total).toBe(1);
    fake.fail('access-not-granted');
    await expect(client.getBalances()).rejects.toMatchObject({ code: 'access-not-granted', owner: 'bank' });
    expect(await (await fetch(OTHER)).text()).toBe('other');
    expect(fake.calls).toHaveLength(2);
    server.resetHandlers(...handlersOf(fake));
    expect((await client.listAccounts()).page.total).toBe(8);
  });

  it('a gateway that is gone is a network error', async () => {
    fake.set('gone');
    expect(await codeOf(client.listAccounts())).toBe('network-error');
  });

  it('a call ends when its caller leaves', async () => {
    fake.set('slow');
    const leaving = new AbortController();
    const call = client.listAccounts({}, { signal: leaving.signal });
    await until(() => fake.calls.length === 1);
    leaving.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
  });
});
