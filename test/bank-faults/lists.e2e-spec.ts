import type { TLSSocket } from 'node:tls';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { healthSchema } from '../../src/operations/health/health-schemas.js';
import { bankForFile, repair } from '../support/bank-for-file.js';
import { temporaryDirectory } from '../support/closing.js';
import { askInTime, expectCommonConditions, expectNoSecret } from '../support/common-conditions.js';
import { startGateway } from '../support/gateway.js';
import { LONGEST_WAIT_MS, MovedClock } from '../support/moved-clock.js';
import { type Handler, json, listAccounts } from '../support/pretend-bank.js';
import { listSample, PLANTED, sampleAccount, sampleAccounts, sampleId } from '../support/sample-accounts.js';
import { start } from '../support/sandbox.js';
import { closedPort } from '../support/servers.js';
import { until } from '../support/until.js';

// Paging is tested in src/bank/account-reader.spec.ts, and tolerance of documents in src/list/bank-page.spec.ts.

const NO_CACHE = { 'cache-control': 'no-cache' };

const bank = await bankForFile();
let clock: MovedClock;
beforeEach(() => {
  clock = new MovedClock();
  // so that no back-off ends, even on a busy machine
  clock.stop();
});

const lists = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts'));
const asked = () => lists().map(({ path }) => path.replace(/.*PageNumber=(\d+)&PageSize=(\d+)/, '$1/$2'));

describe('the account list', () => {
  it('costs one call for each page; each refresh has its own id, which is also in the log line of the request', async () => {
    bank.onAccounts = listAccounts(sampleAccounts(25));
    const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '10', SNAPSHOT_FRESH_MS: '0' });
    const answers = [await askInTime(gateway, '/api/v1/accounts?pageSize=1000'), await askInTime(gateway)];
    expect(answers[0]?.json.snapshot).toMatchObject({ complete: true, stale: false });
    expect(answers[0]?.json.accounts).toHaveLength(25);
    expect(asked().slice(0, 3).sort()).toEqual(['1/10', '2/10', '3/10']);
    const sent = lists().map(({ headers }) => headers['x-request-id']);
    const [first, second] = [sent[0], sent[3]];
    expect(sent).toEqual([first, first, first, second, second, second]);
    expect(first).not.toBe(second);
    expect(gateway.events('request').map(({ refreshId }) => refreshId)).toEqual([first, second]);
    await expectCommonConditions(bank, gateway, answers);
  });

  it('is served with complete: false if an account appears twice, also in the second pass', async () => {
    const [one, two] = [sampleAccounts(10), sampleAccounts(19).slice(9)];
    bank.onAccounts = (_request, response, url) =>
      json(response, 200, {
        result: url.searchParams.get('PageNumber') === '1' ? one : two,
        pageInfo: { rowCount: 20 },
      });
    const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '10' });
    const answer = await askInTime(gateway);
    expect(asked().filter((page) => page === '1/10')).toHaveLength(2);
    expect(answer.json.page.total).toBe(19);
    expect(answer.json.snapshot).toMatchObject({ complete: false, stale: false });
    expect(answer.headers['snapshot-complete']).toBe('false');
    expect(gateway.events('snapshot.incomplete')).toHaveLength(1);
    await expectCommonConditions(bank, gateway, [answer]);
  });

  it('is read and served completely with 20 000 accounts', async () => {
    const row = (number: number) => `{"accountId":"${sampleId(number)}","friendlyName":"${number}"}`;
    bank.onAccounts = (_request, response, url) => {
      const first = (Number(url.searchParams.get('PageNumber')) - 1) * 5000 + 1;
      const rows = Array.from({ length: first > 20_000 ? 0 : 5000 }, (_, index) => row(first + index));
      json(response, 200, `{"result":[${rows.join()}],"pageInfo":{"pageSize":5000,"rowCount":20000}}`);
    };
    const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '5000', REQUEST_DEADLINE_MS: '60000' });
    const { json: list } = await askInTime(gateway, '/api/v1/accounts?pageNumber=200&pageSize=100');
    expect(list.page).toEqual({ number: 200, size: 100, total: 20_000, hasMore: false });
    expect(list.accounts.at(-1).name).toBe('20000');
    expect([list.snapshot.complete, asked().length]).toEqual([true, 5]);
  });
});

it('the account list costs the bank at most the calls in docs/calling-the-bank.md#retries', async () => {
  const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' }, clock);
  for (const [statuses, calls, tokens, answered] of [
    [[200], 1, 1, 200],
    [[500], 1, 1, 503],
    [[503], 2, 1, 503],
    [[401], 2, 2, 502],
    [[401, 503], 3, 2, 503],
    [[503, 401], 3, 2, 502],
    [[401, 503, 401], 3, 2, 502],
    [[401, 503, 200], 3, 2, 200],
  ] as const) {
    clock.advance(LONGEST_WAIT_MS);
    bank.requests.length = 0;
    bank.tokens.length = 0;
    let nth = 0;
    const good = listAccounts(sampleAccounts(1));
    const answerNext: Handler = (request, response, url) => {
      const status = statuses[Math.min(nth++, statuses.length - 1)];
      if (status === 200) good(request, response, url);
      else json(response, status ?? 0, {});
    };
    bank.onAccounts = answerNext;
    const answers = await Promise.all(Array.from({ length: 3 }, () => askInTime(gateway)));
    const seen = [statuses, lists().length, bank.tokens.length, ...new Set(answers.map(({ status }) => status))];
    expect(seen).toEqual([statuses, calls, tokens, answered]);
  }
  repair(bank);
});

it('the account list is served despite unknown keys and words, which are logged once and listed in /health, whose status stays ok', async () => {
  const DRIFT = [
    { path: 'status', value: 'Frozen' },
    { path: 'balances[].availableAmount' },
    { path: 'newField' },
    { path: '*' },
  ];
  const changed = sampleAccount(120, {
    status: 'Frozen',
    newField: PLANTED.text,
    [PLANTED.iban]: PLANTED.iban,
    balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: 1, availableAmount: 12.5 }],
  });
  const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '50', SNAPSHOT_FRESH_MS: '0' });
  bank.onAccounts = listAccounts(sampleAccounts(120));
  expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
  expect((await gateway.get('/health')).json.details.bank.drift).toEqual([]);

  // on the last page
  bank.onAccounts = listAccounts([...sampleAccounts(119), changed]);
  for (let refresh = 0; refresh < 2; refresh++) {
    const { json: list } = await gateway.get('/api/v1/accounts?status=frozen');
    expect(list).toMatchObject({ page: { total: 1 }, accounts: [{ status: 'Frozen' }] });
  }
  const health = (await gateway.get('/health')).json;
  expect(healthSchema.strict().parse(health).status).toBe('ok');
  expect(health.details.bank).toMatchObject({ status: 'up', drift: DRIFT });
  expect(gateway.events('bank.drift')).toEqual(
    DRIFT.map((drift) => expect.objectContaining({ level: 'warn', ...drift })),
  );
  expectNoSecret(gateway.lines.join('') + JSON.stringify(health), [PLANTED.iban, PLANTED.text]);
});

it('a bank that allows 5 calls a second delivers 12 pages within one refresh', async () => {
  const good = listSample(12);
  let [since, calls] = [0, 0];
  bank.onAccounts = (request, response, url) => {
    if (performance.now() - since >= 1000) [since, calls] = [performance.now(), 0];
    calls += 1;
    if (calls > 5) json(response, 429, {}, { 'retry-after': '1' });
    else good(request, response, url);
  };
  const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '1' }, clock);
  const answer = await askInTime(gateway);
  expect([answer.status, answer.json.page.total, answer.json.snapshot.complete]).toEqual([200, 12, true]);
  expect(gateway.events('snapshot.refreshed')).toHaveLength(1);
  expect(gateway.events('snapshot.failed')).toEqual([]);
  // one call at a time after the first 429s: not many more calls than pages
  expect(asked().length).toBeLessThan(25);
});

it('a bank that always asks to wait is named to callers at their deadline', async () => {
  bank.onAccounts = (_request, response) => json(response, 429, {}, { 'retry-after': '1' });
  const gateway = await startGateway(bank, { REQUEST_DEADLINE_MS: '1500' }, clock);
  const answer = await askInTime(gateway);
  expect([answer.status, answer.json.code, answer.headers['retry-after']]).toEqual([503, 'bank-rate-limited', '1']);
});

it('a Retry-After longer than a refresh may take is respected, even within the call', async () => {
  bank.onAccounts = (_request, response) => json(response, 503, {}, { 'retry-after': '70' });
  const gateway = await startGateway(bank, {}, clock);
  const answer = await askInTime(gateway);
  expect([answer.json.code, answer.headers['retry-after']]).toEqual(['bank-error', '70']);
  clock.advance(69_400);
  const early = await askInTime(gateway, '/api/v1/accounts', NO_CACHE);
  expect([early.json.code, asked()]).toEqual(['bank-error', ['1/1000']]);
  expect((await gateway.get('/health')).json.details.bank.circuit).toBe('open');
  repair(bank);
  clock.advance(1200);
  const last = await askInTime(gateway);
  expect([last.status, asked()]).toEqual([200, ['1/1000', '1/1000']]);
  await expectCommonConditions(bank, gateway, [answer, early, last]);
});

it('a connection that dies between two pages leads to the cached copy, marked stale, never to a partial list', async () => {
  const good = listSample(6);
  const dieAfterTheFirst: Handler = (request, response, url) => {
    if (url.searchParams.get('PageNumber') === '1') good(request, response, url);
    else (request.socket as TLSSocket).destroy();
  };
  const env = { BANK_PAGE_SIZE: '2', BANK_MAX_CONCURRENT_REQUESTS: '1', SNAPSHOT_FRESH_MS: '0' };
  const gateway = await startGateway(bank, env, clock);
  bank.onAccounts = good;
  const before = await askInTime(gateway);
  bank.onAccounts = dieAfterTheFirst;
  clock.advance(2000);
  const [held, now] = [await askInTime(gateway), await askInTime(gateway, '/api/v1/accounts', NO_CACHE)];
  expect([held.status, held.json.page.total, held.json.snapshot.stale]).toEqual([200, 6, true]);
  expect([now.status, now.json.code, now.json.owner]).toEqual([503, 'bank-unreachable', 'network']);
  // page 1, page 2 over the kept connection and two fresh ones, and the same page again, over two more
  expect(asked().slice(4)).toEqual(['1/2', '2/2', '2/2', '2/2', '2/2', '2/2']);
  bank.onAccounts = good;
  clock.advance(LONGEST_WAIT_MS);
  const last = await askInTime(gateway);
  expect([last.json.page.total, last.json.snapshot.stale]).toEqual([6, false]);
  await expectCommonConditions(bank, gateway, [before, held, now, last]);
});

it('a bank that is down from the start is reported with owner and next attempt, and the gateway recovers without a restart or a caller', async () => {
  const settings = {
    SANDBOX_DIRECTORY: temporaryDirectory(),
    SANDBOX_PORT: await closedPort(),
    SANDBOX_CONTROL_PORT: await closedPort(),
  };
  const sandbox = await start(settings);
  await sandbox.close();
  const gateway = await startGateway(sandbox, {}, clock);
  for (let call = 0; call < 3; call++) {
    const { headers, json: problem } = await askInTime(gateway);
    expect(problem).toMatchObject({ status: 503, code: 'bank-unreachable', owner: 'network' });
    expect(['1', '2']).toContain(headers['retry-after']);
    expect(problem.detail).toMatch(/refused/);
  }
  const health = await gateway.get('/health');
  expect([health.status, health.json]).toMatchObject([
    503,
    {
      status: 'error',
      details: {
        token: { status: 'down', code: 'bank-unreachable' },
        bank: { status: 'unknown', circuit: 'open', lastSuccessAt: null, lastError: { code: 'bank-unreachable' } },
      },
    },
  ]);
  expect((await gateway.get('/health/live')).status).toBe(200);
  expect((await gateway.get('/health/ready')).status).toBe(503);

  await start(settings);
  clock.advance(2000);
  await until(async () => (await gateway.get('/health/ready')).status === 200);
  expect((await askInTime(gateway)).status).toBe(200);
  expect(gateway.events('bank.unavailable')).toHaveLength(1);
  expect(gateway.events('bank.recovered')).toHaveLength(1);
  expect((await gateway.get('/health')).json).toMatchObject({
    status: 'ok',
    details: { bank: { status: 'up', circuit: 'closed' } },
  });
});
