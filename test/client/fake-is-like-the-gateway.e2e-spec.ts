import { beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type Account } from '../../client/src/index.js';
import { createFakeGateway } from '../../client/testing/index.js';
import type { FakeGateway } from '../../client/src/testing.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { start } from '../support/sandbox.js';

const ACCOUNTS = '/api/v1/accounts';

/** What is compared of an answer: all of it, but values of this moment or of this connection are replaced by their form. */
async function toComparable(response: Response) {
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OF_THE_CONNECTION.has(name)));
  for (const [name, form] of Object.entries(FORMS)) {
    if (headers[name] !== undefined) headers[name] = headers[name].replace(form, '*');
  }
  return { status: response.status, headers, body: (await response.text()).replaceAll(MOMENT, '*') };
}
const OF_THE_CONNECTION = new Set([
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
]);
const MOMENT =
  /\b\d{4}-\d\d-\d\dT[\d:.]+Z(?=","expiresAt|","stale|\r|$)|(?<="requestId":")[\w-]{36}(?=")|(?<="detail":")The (bank|account list)[^"]*/gm;
const FORMS = {
  age: /^\d+$/,
  'cache-control': /\d+$/,
  'cache-status': /(?<=ttl=)-?\d+/,
  etag: /^W\/"[\w-]{27}"$/,
  'retry-after': /^\d+$/,
  'snapshot-as-of': /^.*$/,
  'x-request-id': /^[\w-]{36}$/,
};

let bank: Sandbox;
let clock: MovedClock;
let gateway: Gateway;
let fake: FakeGateway;
beforeAll(async () => {
  bank = await start();
  clock = new MovedClock();
  clock.stop();
  gateway = await startGateway(bank, {}, clock);
  const accounts: Account[] = [];
  for await (const account of createClient({ baseUrl: gateway.url }).allAccounts()) accounts.push(account);
  fake = createFakeGateway({ accounts });
  await fake.fetch(ACCOUNTS);
});

/** Asks both the same. */
async function compare(path: string, init: RequestInit = {}) {
  const own = { ...init, headers: { 'accept-encoding': 'identity', ...init.headers } };
  const [real, faked] = [await fetch(gateway.url + path, own), await fake.fetch(path, own)];
  expect(await toComparable(faked)).toEqual(await toComparable(real));
  return real.status;
}
const advance = (ms: number) => (clock.advance(ms), fake.advance(ms));

describe('the fake gateway answers as the gateway does:', () => {
  it.each([
    [200, ''],
    [200, '?pageSize=7&pageNumber=3'],
    [200, '?PageSize=1000&sort=-current'],
    [200, '?sort=currency'],
    [200, '?sort=-openedAt&status=active'],
    [200, '?q=soci%C3%A9te'],
    [200, '?q=LU06&currency=eur'],
    [200, '?pageNumber=999'],
    [200, '?format=ndjson&currency=USD'],
    [200, '?format=csv&separator=semicolon&decimal=comma'],
    [400, '?pageSize=0'],
    [400, '?pageSize=1001&unknown=1'],
    [400, '?q=%20'],
    [400, '?q='],
    [400, '?status=a&Status=b'],
    [400, '?sort=iban'],
  ])('%i for the list%s', async (status, search) => {
    expect(await compare(ACCOUNTS + search)).toBe(status);
  });

  it('an account, no such account, a parameter of another route', async () => {
    const { json } = await gateway.get(`${ACCOUNTS}?pageSize=1`);
    expect(await compare(`${ACCOUNTS}/${json.accounts[0].id}`)).toBe(200);
    expect(await compare(`${ACCOUNTS}/none`)).toBe(404);
    expect(await compare(`${ACCOUNTS}/none?q=a`)).toBe(400);
  });

  it.each([
    [200, ''],
    [200, '?currency=EUR'],
    [200, '?currency=none'],
    [400, '?pageNumber=1'],
  ])('%i for the totals%s', async (status, search) => {
    expect(await compare(`/api/v1/balances${search}`)).toBe(status);
  });

  it('no such route, another method, HEAD', async () => {
    expect(await compare('/api/v1/none')).toBe(404);
    expect(await compare(ACCOUNTS, { method: 'POST' })).toBe(405);
    expect(await compare(ACCOUNTS, { method: 'HEAD' })).toBe(200);
  });

  it('a 304 for the same data, also after a refresh; 200 for other tags', async () => {
    const tags = [await gateway.get(ACCOUNTS), await fake.fetch(ACCOUNTS)].map(({ headers }) =>
      headers instanceof Headers ? headers.get('etag') : headers['etag'],
    );
    for (const ms of [0, 11_000]) {
      advance(ms);
      const ask = { headers: { 'if-none-match': tags.join(', ') } };
      expect(await compare(ACCOUNTS, ask)).toBe(304);
    }
    expect(await compare(ACCOUNTS, { headers: { 'if-none-match': 'W/"none"' } })).toBe(200);
  });

  it('a refresh for no-cache, and for an age of more than 10 s', async () => {
    advance(3000);
    expect(await compare(ACCOUNTS, { headers: { 'cache-control': 'no-cache' } })).toBe(200);
    advance(11_000);
    expect(await compare(ACCOUNTS)).toBe(200);
    expect(await compare(ACCOUNTS, { headers: { 'cache-control': 'max-stale' } })).toBe(200);
  });

  it('the copy while the bank is down, then 503', async () => {
    bank.control.patch({ failNext: [{ endpoint: 'accounts', times: 1_000_000, with: '503' }] });
    fake.set('down');
    advance(11_000);
    expect(await compare(`${ACCOUNTS}?pageSize=3`)).toBe(200);
    expect((await fake.fetch(ACCOUNTS)).headers.get('snapshot-stale')).toBe('true');
    expect(await compare(ACCOUNTS, { headers: { 'cache-control': 'no-cache' } })).toBe(503);
    advance(301_000);
    expect(await compare(ACCOUNTS)).toBe(503);
    expect(await compare('/api/v1/balances')).toBe(503);
    bank.control.reset();
    fake.set('well');
  });

  it('no accounts', async () => {
    bank.control.patch({ accounts: 0 });
    fake.set('empty');
    advance(60_000);
    expect(await compare(ACCOUNTS)).toBe(200);
    expect(await compare('/api/v1/balances')).toBe(200);
  });
});
