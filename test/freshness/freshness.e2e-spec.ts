import { describe, expect, it } from '@jest/globals';
import { SnapshotService } from '../../src/cache/snapshot-service.js';
import { bankForFile, holdAccounts } from '../support/bank-for-file.js';
import { type Answer, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { json, listAccounts } from '../support/pretend-bank.js';
import { sampleAccount, sampleAccounts } from '../support/sample-accounts.js';
import { startSquidInFrontOf } from '../support/squid.js';
import { hasSquid } from '../support/tools.js';
import { start } from '../support/sandbox.js';
import { until } from '../support/until.js';

const bank = await bankForFile();

/** A gateway whose clock only the test moves, so that ages do not depend on the speed of the machine. */
async function begin(env: Record<string, string> = {}) {
  const clock = new MovedClock();
  clock.stop();
  return { clock, gateway: await startGateway(bank, env, clock) };
}

const refreshes = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;

it('40 callers at once on a cold gateway cost one token and one refresh, with a separate token host', async () => {
  const sandbox = await start({ SANDBOX_LATENCY_MS: 20, SANDBOX_AUTH_PORT: 0 });
  const asked = (endpoint: string) => sandbox.requests.filter((request) => request.endpoint === endpoint).length;
  expect(sandbox.authUrl).not.toBe(sandbox.url);
  const gateway = await startGateway(sandbox, { BANK_PAGE_SIZE: '50' });
  const paths = ['/api/v1/accounts', '/api/v1/accounts?pageNumber=3', '/api/v1/accounts/nobody', '/health/ready'];
  // a probe waits at most 500 ms
  const expected = [[200], [200], [404], [200, 503]];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => gateway.get(paths[index % paths.length] as string)),
  );
  const unexpected = answers.filter(({ status }, index) => !expected[index % 4]?.includes(status));
  expect(unexpected.map(({ status }) => status)).toEqual([]);
  expect((await gateway.get('/health/ready')).status).toBe(200);
  expect([asked('authorize'), asked('accounts')]).toEqual([1, 3]);
  // both hosts get the certificate (docs/bank.md#account-list)
  const thumbprints = new Set(sandbox.requests.map(({ thumbprint }) => thumbprint));
  expect(thumbprints.size).toBe(1);
  expect(thumbprints).not.toContain(null);
});

it('500 callers who wait at once on a cold gateway cost one refresh, and all get the same response', async () => {
  const letGo = holdAccounts(bank);
  const gateway = await startGateway(bank, { REQUEST_DEADLINE_MS: '60000', BANK_REQUEST_TIMEOUT_MS: '60000' });
  const calls = Array.from({ length: 500 }, () => gateway.get(PATH));
  await until(() => gateway.app.get(SnapshotService).status().callersWaiting === calls.length);
  letGo();
  const answers = await Promise.all(calls);
  const responses = answers.map(({ status, headers, text }) => [status, headers.etag, text].join(' '));
  expect(new Set(responses).size).toBe(1);
  expect(responses[0]).toMatch(/^200 W\/".*"total":3/);
  expect(refreshes()).toBe(1);
  const ids = new Set(gateway.events('request').map(({ refreshId }) => refreshId));
  expect([...ids]).toEqual([expect.any(String)]);
});

const PATH = '/api/v1/accounts';
const FRESH_MS = 10_000;
const STALE_MS = 300_000;

/** Asserts that body and headers of a successful response agree. Returns their values. */
function shown({ status, headers, json: body }: Answer) {
  expect(status).toBe(200);
  expect(headers['snapshot-as-of']).toBe(body.snapshot.asOf);
  expect(headers['snapshot-stale']).toBe(String(body.snapshot.stale));
  expect(headers['snapshot-complete']).toBe(String(body.snapshot.complete));
  const cacheStatus = String(headers['cache-status']);
  expect(cacheStatus).toMatch(/^accounts-gateway; (hit|fwd=(miss|stale|request)); ttl=-?\d+(; detail=[a-z-]+)?$/);
  const age = Number(headers.age);
  const maxAge = Number(/^private, max-age=(\d+)$/.exec(String(headers['cache-control']))?.[1]);
  const ttl = Number(/ttl=(-?\d+)/.exec(cacheStatus)?.[1]);
  expect(headers['snapshot-expires-at']).toBe(body.snapshot.expiresAt);
  // a cache subtracts Age from it; a stale response lasts until the next attempt
  if (body.snapshot.stale) expect(maxAge - age).toBeGreaterThanOrEqual(1);
  else expect(maxAge).toBe(FRESH_MS / 1000);
  // both are rounded down
  expect(Math.abs(age + ttl - FRESH_MS / 1000)).toBeLessThanOrEqual(1);
  expect(headers.vary).toBe('Accept, Accept-Encoding, Origin');
  expect(headers.etag).toMatch(/^W\/"/);
  return { ...body.snapshot, age, cacheStatus, names: body.accounts.map(({ name }: { name: string }) => name) };
}

describe('the response to one query', () => {
  it('is fresh, then stale while the bank fails, then an error past the maximum age, then fresh again', async () => {
    const { clock, gateway } = await begin();
    const get = (headers = {}) => gateway.get(PATH, headers);

    // nothing is cached
    const first = shown(await get());
    expect(first).toMatchObject({ stale: false, complete: true, age: 0 });
    expect(first.cacheStatus).toContain('fwd=miss');

    // fresh: no call to the bank
    clock.advance(FRESH_MS - 2000);
    const fresh = shown(await get());
    expect(fresh).toMatchObject({ asOf: first.asOf, stale: false, age: 8 });
    expect(fresh.cacheStatus).toMatch(/; hit; ttl=[12]$/);
    expect(refreshes()).toBe(1);

    // unless the caller asks for it
    const asked = shown(await get({ 'cache-control': 'max-age=5' }));
    expect([asked.age, refreshes()]).toEqual([0, 2]);
    const { asOf } = asked;

    // the bank fails: the older copy, marked stale, with the reason
    bank.onAccounts = (_request, response) => json(response, 500, {});
    clock.advance(60_000);
    const failing = shown(await get());
    expect(failing).toMatchObject({ asOf, stale: true });
    expect(failing.cacheStatus).toMatch(/; fwd=stale; ttl=-\d+; detail=bank-error$/);
    expect((await get({ 'cache-control': 'no-cache' })).status).toBe(503);
    // squid adds max-age=259200, for example: a stale copy is still allowed
    for (const value of ['max-age=259200', 'max-age=70', 'max-age=5, max-stale', 'only-if-cached', '']) {
      expect([value, shown(await get({ 'cache-control': value })).stale]).toEqual([value, true]);
    }
    for (const value of ['max-age=50', 'max-age=0', 'max-age=5, max-stale=50']) {
      expect([value, (await get({ 'cache-control': value })).status]).toEqual([value, 503]);
    }

    // still stale: a caller with the same data gets a 304 with age and state in headers
    const unmarked = await get({ 'if-none-match': (await get()).headers.etag as string });
    expect(unmarked.status).toBe(304);
    expect(unmarked.headers['snapshot-as-of']).toBe(asOf);
    expect(unmarked.headers['snapshot-stale']).toBe('true');

    // past the maximum age: not served
    clock.advance(STALE_MS);
    const tooOld = await get();
    expect(tooOld.status).toBe(503);
    expect(tooOld.json).toMatchObject({ code: 'bank-error', owner: 'bank' });
    expect(tooOld.headers['retry-after']).toMatch(/^\d+$/);

    // recovered
    bank.onAccounts = listAccounts([...sampleAccounts(3), sampleAccount(4, { friendlyName: 'New' })]);
    clock.advance(60_000);
    const recovered = shown(await get());
    expect(recovered).toMatchObject({ stale: false, complete: true, age: 0 });
    expect(recovered.asOf > asOf).toBe(true);
    expect(recovered.names).toEqual(['New', 'Operating 1', 'Operating 2', 'Operating 3']);
    expect(shown(await get()).cacheStatus).toContain('hit');
  });

  (hasSquid() ? it : it.skip)('is the older copy behind a squid, which adds a max-age to each request', async () => {
    const { clock, gateway } = await begin();
    const squid = await startSquidInFrontOf(Number(new URL(gateway.url).port));
    const get = async () => {
      const answer = await fetch(squid.url.origin + PATH);
      return [answer.status, answer.headers.get('snapshot-stale')];
    };
    expect(await get()).toEqual([200, 'false']);
    bank.onAccounts = (_request, response) => json(response, 500, {});
    clock.advance(FRESH_MS + 1000);
    expect(await get()).toEqual([200, 'true']);
    expect(squid.log()).toContain(PATH);
    clock.advance(STALE_MS);
    expect(await get()).toEqual([503, null]);
  });

  it('is the older copy while the bank is slow, unless the caller asks for a new one and waits', async () => {
    const { clock, gateway } = await begin({ SNAPSHOT_SOFT_TIMEOUT_MS: '150' });
    const get = (headers = {}) => gateway.get(PATH, headers);
    const first = shown(await get());
    clock.advance(FRESH_MS + 3000);
    const answers: (() => void)[] = [];
    bank.onAccounts = (_request, response) => void answers.push(() => json(response, 500, {}));
    const slow = shown(await get());
    expect(slow).toMatchObject({ asOf: first.asOf, stale: true, age: 13 });
    expect(slow.cacheStatus).toMatch(/; fwd=stale; ttl=-[34]$/);
    await until(() => answers.length === 1);
    const snapshots = gateway.app.get(SnapshotService);
    const strict = get({ 'cache-control': 'max-age=5' });
    await until(() => snapshots.status().callersWaiting === 1);
    answers[0]?.();
    expect((await strict).json).toMatchObject({ status: 503, code: 'bank-error' });
    // during the back-off: no call to the bank
    const waiting = shown(await get());
    expect(waiting).toMatchObject({ asOf: first.asOf, stale: true });
    expect(waiting.cacheStatus).toMatch(/; hit; ttl=-\d+; detail=bank-error$/);
    expect(refreshes()).toBe(2);
  });

  it('has the same headers as HEAD, CSV and NDJSON', async () => {
    const { gateway } = await begin();
    const snapshotHeaders = async (path: string) => {
      const { headers } = await gateway.get(path);
      return ['snapshot-as-of', 'snapshot-stale', 'snapshot-complete', 'vary'].map((name) => headers[name]);
    };
    const expected = await snapshotHeaders(PATH);
    expect(expected).toEqual([expect.stringMatching(/^2.*Z$/), 'false', 'true', 'Accept, Accept-Encoding, Origin']);
    for (const path of [`${PATH}?format=csv`, `${PATH}?format=ndjson`, '/api/v1/balances', `${PATH}/nobody`]) {
      expect(await snapshotHeaders(path)).toEqual(expected);
    }
  });
});
