import type { RequestListener } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createClient, GatewayProblem } from '../src/index.js';
import { remedyOf } from '../../src/errors/problem-table.js';
import type { Sandbox } from '../../src/sandbox/sandbox.js';
import { startGateway, type Gateway } from '../../test/support/gateway.js';
import { MovedClock } from '../../test/support/moved-clock.js';
import { json, startPretendBank } from '../../test/support/pretend-bank.js';
import { start } from '../../test/support/sandbox.js';
import { closedPort, startWebServer } from '../../test/support/servers.js';

let sandbox: Sandbox;
let clock: MovedClock;
let gateway: Gateway;
beforeAll(async () => {
  sandbox = await start();
});
afterEach(() => sandbox.control.reset());

/** A gateway for the current test. */
const serve = async () => {
  clock = new MovedClock();
  clock.stop();
  gateway = await startGateway(sandbox, { SNAPSHOT_SOFT_TIMEOUT_MS: '14000' }, clock);
};
/** The statuses of all requests so far. */
const statuses = () => gateway.events('request').map(({ status }) => status);
/** @param before called before each request. Pages have 50 accounts instead of 1000 */
const open = (before = () => {}) =>
  createClient({
    baseUrl: gateway.url,
    clientName: 'spec',
    fetch: (input, init) => {
      before();
      return fetch(String(input).replace('pageSize=1000', 'pageSize=50'), init);
    },
  });

describe('a page of the list, an account, the totals', () => {
  it('equal the response bodies for the same query', async () => {
    await serve();
    const client = open();
    const list = await client.listAccounts({
      currency: 'EUR',
      sort: '-current',
      pageSize: 3,
      q: '',
      status: undefined,
    });
    expect(list).toEqual((await gateway.get('/api/v1/accounts?currency=EUR&sort=-current&pageSize=3')).json);
    expect(list.accounts).toHaveLength(3);
    const [first] = list.accounts;
    expect((await client.getAccount(first?.id ?? '')).account).toEqual(first);
    const { totals } = await client.getBalances({ currency: 'EUR' });
    expect(totals).toEqual((await gateway.get('/api/v1/balances?currency=EUR')).json.totals);
    const names = gateway.events('request').map(({ clientName = 'none' }) => clientName);
    expect(names).toEqual(['spec', 'none', 'spec', 'spec', 'none']);
  });

  it('are fetched from the bank with refresh: true, and not without it', async () => {
    await serve();
    const client = open();
    const { snapshot } = await client.getBalances();
    clock.advance(3000);
    expect((await client.getBalances()).snapshot.asOf).toBe(snapshot.asOf);
    const { asOf } = (await client.getBalances({}, { refresh: true })).snapshot;
    expect(Date.parse(asOf) - Date.parse(snapshot.asOf)).toBe(3000);
  });
});

it('after a 304, expiresAt and asOf are later', async () => {
  await serve();
  const client = open();
  const first = (await client.getBalances()).snapshot;
  clock.advance(11_000);
  const second = (await client.getBalances()).snapshot;
  expect(statuses()).toEqual([200, 304]);
  expect(second).toEqual((await gateway.get('/api/v1/balances')).json.snapshot);
  expect(Date.parse(second.expiresAt) - Date.parse(first.expiresAt)).toBe(11_000);
});

describe('all accounts', () => {
  const collect = async (client: ReturnType<typeof open>, options = {}) => {
    const ids: string[] = [];
    for await (const { id } of client.allAccounts({ sort: 'currency' }, options)) ids.push(id);
    return ids;
  };

  it('appear once each and in order from three pages', async () => {
    await serve();
    const ids = await collect(open());
    expect(statuses()).toEqual([200, 200, 200]);
    const lines = (await gateway.get('/api/v1/accounts?sort=currency&format=ndjson')).text.trim().split('\n');
    expect(ids).toEqual(lines.map((line) => (JSON.parse(line) as { id: string }).id));
  });

  it('are fetched again when the snapshot changes between pages; unchanged pages then cost a 304', async () => {
    await serve();
    let calls = 0;
    const client = open(() => {
      calls += 1;
      if (calls === 3) clock.advance(11_000);
    });
    expect(new Set(await collect(client)).size).toBe(120);
    // pages 1, 2, and 3 of another snapshot; then 1, 2 and 3 again
    expect(statuses()).toEqual([200, 200, 200, 304, 304, 304]);
  });

  it('cost the bank one refresh with refresh: true, even if the network is slow', async () => {
    await serve();
    const before = gateway.events('snapshot.refreshed').length;
    const client = open(() => clock.advance(2000));
    expect(new Set(await collect(client, { refresh: true })).size).toBe(120);
    expect(gateway.events('snapshot.refreshed')).toHaveLength(before + 1);
  });

  it('the negative case: fail after three restarts instead of mixing snapshots that keep changing', async () => {
    await serve();
    let calls = 0;
    const client = open(() => {
      calls += 1;
      clock.advance(11_000);
    });
    await expect(collect(client)).rejects.toMatchObject({ name: 'GatewayProblem', code: 'snapshot-changing' });
    expect(calls).toBe(8);
  });
});

const problemOf = async (promise: Promise<unknown>): Promise<GatewayProblem> => {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GatewayProblem);
  return error as GatewayProblem;
};

describe('a call rejected by the gateway', () => {
  it('has the code, owner and request id of the problem document, and names the invalid parameters', async () => {
    await serve();
    const client = createClient({ baseUrl: `${gateway.url}/` });
    const problem = await problemOf(client.getAccount('none/../such\ud800'));
    expect(problem).toMatchObject({ code: 'account-not-found', owner: 'caller', status: 404, retryAfterMs: null });
    expect(problem.remedy).toBe(remedyOf('account-not-found'));
    expect(gateway.events('request').map(({ requestId }) => requestId)).toEqual([problem.requestId]);
    const rejected = await problemOf(client.listAccounts({ pageSize: 5000 }));
    expect(rejected).toMatchObject({ code: 'invalid-request', status: 400, errors: [{ name: 'pageSize' }] });
  });
});

describe('a 503', () => {
  it('is retried after its Retry-After, within the deadline', async () => {
    gateway = await startGateway(sandbox);
    sandbox.control.patch({ failNext: [{ endpoint: 'accounts', times: 2, with: '503' }] });
    const { page } = await createClient({ baseUrl: gateway.url }).listAccounts();
    expect(page.total).toBe(120);
    expect([statuses()[0], statuses().at(-1)]).toEqual([503, 200]);
  });

  it('is thrown at once if Retry-After exceeds the deadline', async () => {
    const bank = await startPretendBank();
    bank.onAccounts = (_request, response) => json(response, 429, '', { 'retry-after': '120' });
    gateway = await startGateway(bank);
    const problem = await problemOf(createClient({ baseUrl: gateway.url }).listAccounts());
    expect(problem).toMatchObject({ code: 'bank-rate-limited', owner: 'bank', status: 503, retryAfterMs: 120_000 });
    expect(statuses()).toEqual([503]);
  });

  it('is reported each time to onRetry of the call or the client; with retry: false it is thrown at once', async () => {
    let calls = 0;
    const url = await startWebServer((_request, response) => {
      calls += 1;
      response.writeHead(503, { 'retry-after': calls % 3 === 0 ? '300' : '0' }).end();
    });
    const retried: string[] = [];
    const client = createClient({ baseUrl: url, onRetry: ({ status }) => void retried.push(`client ${status}`) });
    await problemOf(client.getBalances());
    expect(retried).toEqual(['client 503', 'client 503']);
    await problemOf(client.getBalances({}, { onRetry: ({ code }) => void retried.push(code) }));
    expect(retried.slice(2)).toEqual(['unexpected-answer', 'unexpected-answer']);
    const problem = await problemOf(client.getBalances({}, { retry: false }));
    expect(problem).toMatchObject({ status: 503, retryAfterMs: 250 });
    expect([calls, retried.length]).toEqual([7, 4]);
  });

  it('is retried even if onRetry throws, which is logged to the console', async () => {
    gateway = await startGateway(sandbox);
    sandbox.control.patch({ failNext: [{ endpoint: 'accounts', times: 2, with: '503' }] });
    const reported = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const onRetry = () => {
      throw new Error('of the app');
    };
    const { page } = await createClient({ baseUrl: gateway.url }).listAccounts({}, { onRetry });
    expect(page.total).toBe(120);
    expect(reported).toHaveBeenCalledWith(expect.objectContaining({ message: 'of the app' }));
    reported.mockRestore();
  });
});

it.each([
  [null, null],
  ['2', 2000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 250],
  // more ms than a timer supports; it would fire at once
  ['31536000', 300_000],
])('Retry-After: %s is parsed as %j ms', async (after, retryAfterMs) => {
  const url = await startWebServer((_request, response) =>
    response.writeHead(502, { 'content-type': 'text/html', ...(after && { 'retry-after': after }) }).end('a proxy'),
  );
  expect(await problemOf(createClient({ baseUrl: url }).listAccounts())).toMatchObject({ status: 502, retryAfterMs });
});

describe('a response that does not come from the gateway', () => {
  it.each<[string, number, string, string]>([
    ["a proxy's page", 502, 'text/html', '<h1>Bad Gateway</h1>'],
    ['JSON of another service', 200, 'application/json', '{"accounts":[]}'],
    ['a problem document of another service', 404, 'application/problem+json', '{"title":"Not Found"}'],
  ])('%s is unexpected-answer, with its status', async (_name, status, type, body) => {
    const url = await startWebServer((_request, response) =>
      response.writeHead(status, { 'content-type': type, 'x-request-id': 'r-1' }).end(body),
    );
    expect(await problemOf(createClient({ baseUrl: url }).listAccounts())).toMatchObject({
      code: 'unexpected-answer',
      owner: 'network',
      status,
      requestId: 'r-1',
    });
  });

  it.each([
    [500, true],
    [502, true],
    [504, true],
    [404, false],
    [200, false],
  ])(
    'a %i without JSON may mean that the gateway is not running: %s; else, baseUrl may be wrong',
    async (status, expected) => {
      const url = await startWebServer((_request, response) => response.writeHead(status).end());
      const { message } = await problemOf(createClient({ baseUrl: url }).listAccounts());
      expect(message.includes('or the gateway is not running')).toBe(expected);
      expect(message.includes('check baseUrl')).toBe(!expected);
    },
  );

  it('a refused connection is network-error, with its cause, the address tried, and what to check', async () => {
    const baseUrl = `http://127.0.0.1:${await closedPort()}`;
    const problem = await problemOf(createClient({ baseUrl }).listAccounts({ q: 'a name' }));
    expect(problem).toMatchObject({ code: 'network-error', owner: 'network', status: 0, requestId: null });
    expect(problem.cause).toMatchObject({ name: 'TypeError' });
    // without the query, which may contain data
    expect(problem.message).toMatch(`No response from ${baseUrl}/api/v1/accounts. Check`);
    expect(problem.remedy).toMatch(/port.*dev server.*CORS_ORIGINS/);
  });

  it.each<[string, RequestListener]>([
    ['before the headers', () => undefined],
    ['within the body', (_request, response) => void response.writeHead(200).write('{')],
  ])('silence %s ends at the deadline', async (_name, listener) => {
    const url = await startWebServer(listener);
    const problem = await problemOf(createClient({ baseUrl: url }).listAccounts({}, { deadlineMs: 100 }));
    expect(problem).toMatchObject({ code: 'deadline-exceeded', owner: 'network', status: 0 });
  });
});

describe("the caller's own signal", () => {
  it('ends a call, which fails with its reason', async () => {
    const url = await startWebServer(() => controller.abort(new Error('the user left')));
    const controller = new AbortController();
    const call = createClient({ baseUrl: url }).listAccounts({}, { signal: controller.signal });
    await expect(call).rejects.toThrow('the user left');
  });

  it('ends the wait for a retry', async () => {
    const controller = new AbortController();
    const url = await startWebServer((_request, response) => {
      response.writeHead(503, { 'retry-after': '20' }).end();
      setTimeout(() => controller.abort(new Error('the user left')), 50);
    });
    const call = createClient({ baseUrl: url }).listAccounts({}, { signal: controller.signal });
    await expect(call).rejects.toThrow('the user left');
  });
});

describe('the address of the gateway', () => {
  it("'' without a page is a clear error at the first call", async () => {
    const client = createClient({ baseUrl: '' });
    await expect(client.listAccounts()).rejects.toThrow(
      "baseUrl '' is the page's own origin, and there is no page here",
    );
  });

  it('of a download has the filters in a fixed order, without empty ones', () => {
    const client = createClient({ baseUrl: 'https://accounts.example.com/bank/' });
    expect(client.exportUrl({ q: '', currency: 'EUR' }, { separator: 'semicolon', decimal: 'comma' })).toBe(
      'https://accounts.example.com/bank/api/v1/accounts?currency=EUR&decimal=comma&format=csv&separator=semicolon',
    );
    expect(client.exportUrl({}, { format: 'ndjson' })).toMatch(/accounts\?format=ndjson$/);
  });
});

describe("a signal that the platform's fetch rejects, as that of jsdom in the tests of an app", () => {
  class OtherSignal extends EventTarget {
    aborted = false;
    reason: unknown = null;
    throwIfAborted(): void {
      if (this.aborted) throw this.reason;
    }
    static timeout(ms: number): OtherSignal {
      const signal = new OtherSignal();
      setTimeout(() => {
        Object.assign(signal, { aborted: true, reason: new Error('timeout') });
        signal.dispatchEvent(new Event('abort'));
      }, ms).unref();
      return signal;
    }
  }
  const platform = globalThis.AbortSignal;
  beforeEach(() => void Object.assign(globalThis, { AbortSignal: OtherSignal }));
  afterEach(() => void Object.assign(globalThis, { AbortSignal: platform }));

  it('does not fail the call', async () => {
    const answer = { totals: [], snapshot: { asOf: '2026-11-21T08:00:00.000Z' } };
    const url = await startWebServer((_request, response) => response.end(JSON.stringify(answer)));
    expect(await createClient({ baseUrl: url }).getBalances()).toEqual(answer);
  });

  it('ends it at the deadline', async () => {
    const url = await startWebServer(() => undefined);
    const problem = await problemOf(createClient({ baseUrl: url, deadlineMs: 100 }).listAccounts());
    expect(problem.code).toBe('deadline-exceeded');
    expect(problem.message).toMatch(`from ${url}/api/v1/accounts`);
  });
});
