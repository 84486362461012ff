import { beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '../../client/src/index.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { start } from '../support/sandbox.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';

let sandbox: Sandbox;
let clock: MovedClock;
let gateway: Gateway;
beforeAll(async () => {
  sandbox = await start({ accounts: 2500 });
});

const serve = async () => {
  clock = new MovedClock();
  clock.stop();
  gateway = await startGateway(sandbox, { SNAPSHOT_SOFT_TIMEOUT_MS: '14000' }, clock);
};
/** The request lines of the log, each as its status and route. */
const requests = () => gateway.events('request').map(({ status, path, route }) => [status, route ?? path]);
const open = (fetchBy?: typeof fetch) => createClient({ baseUrl: gateway.url, clientName: 'spec', fetch: fetchBy });

describe('a page of the list, an account, the sums', () => {
  it('are the bodies of the answers, by the same query', async () => {
    await serve();
    const client = open();
    const list = await client.listAccounts({
      currency: 'EUR',
      sort: '-current',
      pageSize: 3,
      q: '',
      status: undefined,
    });
    const plain = (await gateway.get('/api/v1/accounts?currency=EUR&sort=-current&pageSize=3')).json;
    expect(list).toEqual(plain);
    expect(list.accounts).toHaveLength(3);
    const [first] = list.accounts;
    expect((await client.getAccount(first?.id ?? '')).account).toEqual(first);
    const { totals } = await client.getBalances({ currency: 'EUR' });
    expect(totals).toEqual((await gateway.get('/api/v1/balances?currency=EUR')).json.totals);
    expect(typeof totals[0]?.current).toBe('string');
    expect(gateway.events('request').map(({ clientName }) => clientName)).toEqual([
      'spec',
      undefined,
      'spec',
      'spec',
      undefined,
    ]);
  });

  it('asked again are a 304, whose header says how old they are now; what the caller changed in the first is not in it', async () => {
    await serve();
    const client = open();
    const first = await client.listAccounts({ pageSize: 2, currency: 'DKK' });
    const before = structuredClone(first);
    first.accounts.length = 0;
    clock.advance(11_000);
    const second = await client.listAccounts({ currency: 'DKK', pageSize: 2 });
    expect(gateway.events('request').map(({ status }) => status)).toEqual([200, 304]);
    expect(second.accounts).toEqual(before.accounts);
    expect(Date.parse(second.snapshot.asOf) - Date.parse(before.snapshot.asOf)).toBe(11_000);
  });

  it('refreshed are asked of the bank now; the same without it are not', async () => {
    await serve();
    const client = open();
    const { snapshot } = await client.getBalances();
    clock.advance(3000);
    expect((await client.getBalances()).snapshot.asOf).toBe(snapshot.asOf);
    const { asOf } = (await client.getBalances({}, { refresh: true })).snapshot;
    expect(Date.parse(asOf) - Date.parse(snapshot.asOf)).toBe(3000);
  });
});

describe('all accounts', () => {
  const collect = async (client: ReturnType<typeof open>) => {
    const ids: string[] = [];
    for await (const { id } of client.allAccounts({ sort: 'currency' })) ids.push(id);
    return ids;
  };

  it('are each there once, in their order, by three pages', async () => {
    await serve();
    const ids = await collect(open());
    expect(requests()).toHaveLength(3);
    const lines = (await gateway.get('/api/v1/accounts?sort=currency&format=ndjson')).text.trim().split('\n');
    expect(ids).toEqual(lines.map((line) => (JSON.parse(line) as { id: string }).id));
  });

  it('are gathered again when the snapshot changed between pages; a page with the same data then costs a 304', async () => {
    await serve();
    let calls = 0;
    const client = open((...args) => {
      calls += 1;
      if (calls === 3) clock.advance(11_000);
      return fetch(...args);
    });
    expect(new Set(await collect(client)).size).toBe(2500);
    // 1, 2, then 3 of another snapshot; 1 and 2 again, and 3
    expect(gateway.events('request').map(({ status }) => status)).toEqual([200, 200, 200, 304, 304, 304]);
  });

  it('the counterpart: a snapshot that changes each time is an error after three restarts, never a mixture', async () => {
    await serve();
    let calls = 0;
    const client = open((...args) => {
      calls += 1;
      clock.advance(11_000);
      return fetch(...args);
    });
    await expect(collect(client)).rejects.toMatchObject({ name: 'GatewayProblem', code: 'snapshot-changing' });
    expect(calls).toBe(8);
  });
});
