import { afterEach, describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { closeStreams, openStream } from '../support/event-stream.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { listAccounts } from '../support/pretend-bank.js';
import { accountWith, sampleAccount, sampleAccounts, sampleId } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const bank = await bankForFile();
afterEach(closeStreams);

const EVERY_MS = 300;
const DIGEST = /^[\w-]{43}$/;
const start = (env: Record<string, string> = {}) => startGateway(bank, { SNAPSHOT_FRESH_MS: String(EVERY_MS), ...env });
const watch = (gateway: Gateway, query = '', headers: Record<string, string> = {}) =>
  openStream(`${gateway.url}/api/v1/events${query}`, headers);
const lists = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;
const usd = (number: number, change = {}) => sampleAccount(number, { currency: 'USD', ...change });
const NOTHING = { added: [], changed: [], removed: [], totalsChanged: false };

describe('listeners are told what changes', () => {
  it('the stream begins with the snapshot, and can be kept by nobody', async () => {
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const stream = await watch(gateway);
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(stream.headers['cache-control']).toContain('no-store');
    expect(stream.headers['content-encoding']).toBeUndefined();
    expect(stream.headers['x-request-id']).toMatch(/^[\w.-]+$/);
    const first = await stream.event(0);
    expect(first).toMatchObject({ type: 'snapshot', retry: 3000 });
    expect(first.id).toMatch(DIGEST);
    expect(first.data).toEqual({
      asOf: expect.stringMatching(/^\d{4}-.*Z$/),
      stale: false,
      complete: true,
      accounts: 3,
      ...NOTHING,
    });
  });

  it('added, changed and removed accounts are named; the totals too, where they changed', async () => {
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const stream = await watch(gateway);
    const { id } = await stream.event(0);
    bank.onAccounts = listAccounts([accountWith(1, 5), sampleAccount(2), sampleAccount(4)]);
    const second = await stream.event(1);
    expect(second.type).toBe('snapshot');
    expect(second.data).toMatchObject({
      accounts: 3,
      added: [sampleId(4)],
      changed: [sampleId(1)],
      removed: [sampleId(3)],
      totalsChanged: true,
    });
    expect(second.id).not.toBe(id);
    // another name moves no money
    bank.onAccounts = listAccounts([
      accountWith(1, 5),
      sampleAccount(2, { friendlyName: 'Another' }),
      sampleAccount(4),
    ]);
    const third = await stream.event(2);
    expect(third.data).toMatchObject({ ...NOTHING, accounts: 3, changed: [sampleId(2)] });
    // the data as it was is the state as it was
    bank.onAccounts = listAccounts(sampleAccounts(3));
    expect((await stream.event(3)).id).toBe(id);
  });

  it('readings that change nothing send the id alone', async () => {
    const gateway = await start();
    const stream = await watch(gateway);
    await until(() => stream.all.length >= 4);
    const [state, first, ...others] = stream.all;
    expect(state?.type).toBe('state');
    expect(first?.type).toBe('snapshot');
    for (const each of others) expect(each).toMatchObject({ id: first?.id, type: null, comment: false });
    expect(stream.text).toContain(`\n\nid: ${first?.id}\n\n`);
  });

  it('a filter is told of what it shows, and of accounts that come into it and leave it', async () => {
    bank.onAccounts = listAccounts([sampleAccount(1), sampleAccount(2), usd(3)]);
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const [euros, dollars] = await Promise.all([watch(gateway, '?currency=eur'), watch(gateway, '?CURRENCY=USD')]);
    expect((await euros.event(0)).data).toMatchObject({ accounts: 2 });
    expect((await dollars.event(0)).data).toMatchObject({ accounts: 1 });
    bank.onAccounts = listAccounts([sampleAccount(1), usd(2), usd(3)]);
    expect((await euros.event(1)).data).toMatchObject({
      ...NOTHING,
      accounts: 1,
      removed: [sampleId(2)],
      totalsChanged: true,
    });
    const told = await dollars.event(1);
    expect(told.data).toMatchObject({ ...NOTHING, accounts: 2, added: [sampleId(2)], totalsChanged: true });
    expect(told.id).toBe((await euros.event(1)).id);
    // what it does not show is an id to it
    bank.onAccounts = listAccounts([sampleAccount(1, { friendlyName: 'Another' }), usd(2), usd(3)]);
    const { id } = await euros.event(2);
    await until(() => dollars.all.at(-1)?.id === id);
    expect(dollars.events).toHaveLength(2);
  });

  it('more than 1 000 ids are not named', async () => {
    bank.onAccounts = listAccounts(sampleAccounts(1100));
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const stream = await watch(gateway);
    await stream.event(0);
    bank.onAccounts = listAccounts(sampleAccounts(1100).map((each) => ({ ...each, friendlyName: 'Another' })));
    expect((await stream.event(1)).data).toMatchObject({ ...NOTHING, accounts: 1100, many: true });
    bank.onAccounts = listAccounts([...sampleAccounts(100)].map((each) => ({ ...each, friendlyName: 'Another' })));
    expect((await stream.event(2)).data).toMatchObject({ accounts: 100, removed: { length: 1000 } });
  });

  it('ids are told as they are, whatever they hold', async () => {
    const id = 'a\n\ndata: {"x":1}\r\nevent: stopping\u2028"\\é😀<script>';
    const gateway = await start();
    await gateway.get('/api/v1/accounts');
    const stream = await watch(gateway);
    await stream.event(0);
    bank.onAccounts = listAccounts([...sampleAccounts(3), { ...sampleAccount(4), accountId: id }]);
    expect((await stream.event(1)).data).toMatchObject({ accounts: 4, added: [id] });
    expect(stream.events).toHaveLength(2);
  });
});

describe('one poll serves all', () => {
  it('without listeners nothing is read, and with many one reading for each period', async () => {
    const gateway = await start({ SNAPSHOT_FRESH_MS: '1000' });
    const streams = await Promise.all(Array.from({ length: 20 }, (_, index) => watch(gateway, `?q=a${index % 3}`)));
    const startedAt = performance.now();
    await until(() => lists() >= 4, 10_000);
    expect(performance.now() - startedAt).toBeGreaterThan(2900);
    for (const stream of streams) stream.close();
    await until(() => gateway.events('stream.ended').length === 20);
    const before = lists();
    await new Promise((resolve) => setTimeout(resolve, 2200));
    // one may have been under way
    expect(lists() - before).toBeLessThanOrEqual(1);
  });
});

describe('what is refused', () => {
  it.each([
    ['?currency=', 400, 'invalid-request'],
    ['?currency=EUR&currency=USD', 400, 'invalid-request'],
    ['?pageSize=5', 400, 'invalid-request'],
    ['?lastEventId=1', 400, 'invalid-request'],
  ])('%s is a problem document before any stream', async (query, status, code) => {
    const gateway = await start();
    const { status: got, headers, json } = await gateway.get(`/api/v1/events${query}`);
    expect([got, headers['content-type'], json.code]).toEqual([
      status,
      'application/problem+json; charset=utf-8',
      code,
    ]);
    expect(gateway.events('stream.ended')).toEqual([]);
    expect(gateway.events('request')).toMatchObject([{ status, code, route: '/api/v1/events' }]);
    expect(lists()).toBe(0);
  });

  it('an Accept without event streams, another method, a page of another site', async () => {
    const gateway = await start({ CORS_ORIGINS: 'https://app.example' });
    const ask = (headers: Record<string, string>) => gateway.get('/api/v1/events', headers);
    expect((await ask({ accept: 'application/json' })).json.code).toBe('not-acceptable');
    expect((await ask({ host: 'evil.example' })).json.code).toBe('host-not-allowed');
    expect((await ask({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).json.code).toBe(
      'client-not-allowed',
    );
    const { headers, status } = await openStream(`${gateway.url}/api/v1/events`, {
      'sec-fetch-site': 'cross-site',
      origin: 'https://app.example',
      accept: '*/*',
    });
    expect([status, headers['access-control-allow-origin']]).toEqual([200, 'https://app.example']);
    const post = await fetch(`${gateway.url}/api/v1/events`, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('HEAD gets the headers and no stream', async () => {
    const gateway = await start();
    const head = await fetch(`${gateway.url}/api/v1/events`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/event-stream', '']);
    await until(() => gateway.events('request').length === 1);
    expect(gateway.events('request')[0]).toMatchObject({ method: 'HEAD', status: 200 });
    expect(gateway.events('request')[0]).not.toHaveProperty('stream');
    expect(lists()).toBe(0);
  });

  it('a listener beyond MAX_EVENT_STREAMS, until another leaves', async () => {
    const gateway = await start({ MAX_EVENT_STREAMS: '2' });
    const [first] = await Promise.all([watch(gateway), watch(gateway)]);
    const { status, headers, json } = await gateway.get('/api/v1/events');
    expect([status, json.code, json.owner]).toEqual([503, 'overloaded', 'operator']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    first.close();
    await until(() => gateway.events('stream.ended').length === 1);
    expect((await watch(gateway)).status).toBe(200);
  });
});
