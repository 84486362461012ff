import { describe, expect, it } from '@jest/globals';
import { startGateway, type Answer, type Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { issueToken, json, listAccounts, startPretendBank, type Handler } from '../support/pretend-bank.js';
import { sampleAccount, sampleAccounts } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

const PATH = '/api/v1/accounts';
const FRESH_MS = 10_000;
const STALE_MS = 300_000;

/** Body and headers of a good answer must tell the same; gives what they tell. */
function told({ status, headers, json: body }: Answer) {
  expect(status).toBe(200);
  expect(headers['snapshot-as-of']).toBe(body.snapshot.asOf);
  expect(headers['snapshot-stale']).toBe(String(body.snapshot.stale));
  expect(headers['snapshot-complete']).toBe(String(body.snapshot.complete));
  const cacheStatus = String(headers['cache-status']);
  expect(cacheStatus).toMatch(
    /^accounts-gateway; (hit|fwd=(miss|stale|request)(; collapsed)?); ttl=-?\d+(; detail=[a-z-]+)?$/,
  );
  const age = Number(headers.age);
  const maxAge = Number(/^private, max-age=(\d+)$/.exec(String(headers['cache-control']))?.[1]);
  const ttl = Number(/ttl=(-?\d+)/.exec(cacheStatus)?.[1]);
  if (body.snapshot.stale) expect(maxAge).toBe(0);
  else expect(maxAge).toBe(Math.max(0, ttl));
  // both are rounded down
  expect(Math.abs(age + ttl - FRESH_MS / 1000)).toBeLessThanOrEqual(1);
  expect(headers.vary).toBe('Accept, Accept-Encoding, Origin');
  expect(headers.etag).toMatch(/^W\/"/);
  return { ...body.snapshot, age, cacheStatus, names: body.accounts.map(({ name }: { name: string }) => name) };
}

describe('one answer through its life', () => {
  const hang: Handler = () => undefined;

  async function startBoth() {
    const bank = await startPretendBank();
    bank.onToken = issueToken(bank);
    bank.onAccounts = listAccounts(sampleAccounts(2));
    const clock = new MovedClock();
    const gateway = await startGateway(
      bank,
      { SNAPSHOT_SOFT_TIMEOUT_MS: '150', SNAPSHOT_READ_TIMEOUT_MS: '1500', REQUEST_DEADLINE_MS: '4000' },
      clock,
    );
    const asked = () => bank.requests.filter(({ path }) => path.startsWith(PATH)).length;
    return { bank, clock, gateway, asked };
  }

  const refreshEnded = (gateway: Gateway) => {
    const ends = () => gateway.events('snapshot.failed').length + gateway.events('snapshot.refreshed').length;
    const before = ends();
    return () => until(() => ends() > before);
  };

  it('fresh, slow bank, failing bank, too old, recovered', async () => {
    const { bank, clock, gateway, asked } = await startBoth();
    const get = (headers = {}) => gateway.get(PATH, headers);

    // nothing held
    const first = told(await get());
    expect(first).toMatchObject({ stale: false, complete: true, age: 0 });
    expect(first.cacheStatus).toContain('fwd=miss');

    // fresh: the bank is not asked
    clock.advance(FRESH_MS - 2000);
    const fresh = told(await get());
    expect(fresh).toMatchObject({ asOf: first.asOf, stale: false, age: 8 });
    expect(fresh.cacheStatus).toMatch(/; hit; ttl=[12]$/);
    expect(asked()).toBe(1);

    // slow: the older copy, marked, while the bank is still being asked
    clock.advance(5000);
    bank.onAccounts = hang;
    const ended = refreshEnded(gateway);
    const slow = told(await get());
    expect(slow).toMatchObject({ asOf: first.asOf, stale: true, age: 13 });
    expect(slow.cacheStatus).toMatch(/; fwd=stale; ttl=-[34]$/);
    expect(asked()).toBe(2);
    const joined = told(await get());
    expect(joined.cacheStatus).toContain('fwd=stale; collapsed');
    expect(asked()).toBe(2);
    // who wants it new waits to the end, and gets no stale one
    const strict = await get({ 'cache-control': 'max-age=5' });
    expect(strict.status).toBe(504);
    expect(strict.json).toMatchObject({ code: 'bank-timeout' });
    await ended();

    // failing: the same, with the reason
    bank.onAccounts = (_request, response) => json(response, 500, {});
    const waiting = told(await get());
    expect(waiting).toMatchObject({ asOf: first.asOf, stale: true });
    expect(waiting.cacheStatus).toMatch(/; hit; ttl=-\d+; detail=bank-timeout$/);
    expect(asked()).toBe(2);
    clock.advance(60_000);
    const failing = told(await get());
    expect(failing).toMatchObject({ asOf: first.asOf, stale: true });
    expect(failing.cacheStatus).toMatch(/; fwd=stale; ttl=-\d+; detail=bank-error$/);
    expect((await get({ 'cache-control': 'no-cache' })).status).toBe(503);
    expect(told(await get({ 'cache-control': 'only-if-cached' })).stale).toBe(true);

    // still stale: a caller who holds these data gets no body again, and the age and the mark by headers
    const unmarked = await get({ 'if-none-match': (await get()).headers.etag as string });
    expect(unmarked.status).toBe(304);
    expect(unmarked.headers['snapshot-as-of']).toBe(first.asOf);
    expect(unmarked.headers['snapshot-stale']).toBe('true');

    // too old: never served
    clock.advance(STALE_MS);
    const tooOld = await get();
    expect(tooOld.status).toBe(503);
    expect(tooOld.json).toMatchObject({ code: 'bank-error', owner: 'bank' });
    expect(tooOld.headers['retry-after']).toMatch(/^\d+$/);
    expect((await get({ 'cache-control': 'only-if-cached' })).json).toMatchObject({ code: 'not-cached' });

    // recovered
    bank.onAccounts = listAccounts([...sampleAccounts(2), sampleAccount(3, { friendlyName: 'New' })]);
    clock.advance(60_000);
    const recovered = told(await get());
    expect(recovered).toMatchObject({ stale: false, complete: true, age: 0 });
    expect(recovered.asOf > first.asOf).toBe(true);
    expect(recovered.names).toEqual(['New', 'Operating 1', 'Operating 2']);
    expect(told(await get()).cacheStatus).toContain('hit');
  });

  it('a copy that grows too old while its caller waits is not served to them', async () => {
    const { bank, clock, gateway } = await startBoth();
    told(await gateway.get(PATH));
    clock.advance(STALE_MS - 50);
    bank.onAccounts = hang;
    const answer = gateway.get(PATH);
    await until(() => bank.requests.filter(({ path }) => path.startsWith(PATH)).length === 2);
    clock.advance(1000);
    expect((await answer).json).toMatchObject({ code: 'bank-timeout' });
  });

  it('HEAD, CSV and NDJSON carry the same headers as the JSON', async () => {
    const { gateway } = await startBoth();
    const told = async (path: string) => {
      const { headers } = await gateway.get(path);
      return ['snapshot-as-of', 'snapshot-stale', 'snapshot-complete', 'vary'].map((name) => headers[name]);
    };
    const expected = await told(PATH);
    expect(expected).toEqual([expect.stringMatching(/^2.*Z$/), 'false', 'true', 'Accept, Accept-Encoding, Origin']);
    for (const path of [`${PATH}?format=csv`, `${PATH}?format=ndjson`, '/api/v1/balances', `${PATH}/nobody`]) {
      expect(await told(path)).toEqual(expected);
    }
  });

  it('a list that disagrees with its count twice is served, and says that it may lack accounts', async () => {
    const { bank, gateway } = await startBoth();
    bank.onAccounts = (_request, response, url) =>
      json(response, 200, {
        result: url.searchParams.get('PageNumber') === '1' ? sampleAccounts(2) : [],
        pageInfo: { currentPage: 1, pageSize: 1000, rowCount: 5 },
      });
    expect(told(await gateway.get(PATH))).toMatchObject({ complete: false, stale: false });
    bank.onAccounts = (_request, response, url) =>
      json(response, 200, { result: url.searchParams.get('PageNumber') === '1' ? sampleAccounts(2) : [] });
    expect(told(await gateway.get(PATH, { 'cache-control': 'max-age=0' }))).toMatchObject({ complete: null });
  });
});
