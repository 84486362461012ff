import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Account } from '../../src/snapshot/account.js';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway, type Gateway } from '../support/gateway.js';
import { json, type Handler } from '../support/pretend-bank.js';
import { sampleAccounts, sampleId } from '../support/sample-accounts.js';

const bank = await bankForFile();

type Row = Record<string, unknown>;
/** What a page is answered with: rows, a status, or a whole document. */
type PageOf = (number: number, size: number) => Row[] | number | { document: unknown };

const serve =
  (pageOf: PageOf): Handler =>
  (_request, response, url) => {
    const answer = pageOf(Number(url.searchParams.get('PageNumber')), Number(url.searchParams.get('PageSize')));
    if (typeof answer === 'number') json(response, answer, {});
    else json(response, 200, Array.isArray(answer) ? { result: answer } : answer.document);
  };

const asked = () =>
  bank.requests.flatMap(({ path }) => {
    const match = /PageNumber=(\d+)&PageSize=(\d+)/.exec(path);
    return match ? [`${match[1]}/${match[2]}`] : [];
  });

async function read(pageOf: PageOf, env: Record<string, string> = {}) {
  bank.onAccounts = serve(pageOf);
  const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '10', ...env });
  const answer = await askInTime(gateway, '/api/v1/accounts?pageSize=1000');
  return { gateway, answer };
}

/** All ids in the answer, in the order of their numbers. */
const idsOf = (accounts: Account[]) => accounts.map(({ id }) => id).sort();
const ids = (count: number) => Array.from({ length: count }, (_, index) => sampleId(index + 1));

async function expectList(
  { gateway, answer }: { gateway: Gateway; answer: Awaited<ReturnType<typeof askInTime>> },
  count: number,
  complete: boolean | null,
): Promise<void> {
  expect({ status: answer.status, detail: answer.json.detail }).toEqual({ status: 200, detail: undefined });
  expect(idsOf(answer.json.accounts)).toEqual(ids(count));
  expect(answer.json.snapshot).toMatchObject({ complete, stale: false });
  expect(answer.json.page.total).toBe(count);
  await expectCommonConditions(bank, gateway, [answer]);
}

const ALL = sampleAccounts(25);
const slice = (number: number, size: number) => ALL.slice((number - 1) * size, number * size);
const envelope = (result: Row[] | null, info: object | null) => ({
  document: { result, ...(info && { pageInfo: info }) },
});

describe('lists are read page by page', () => {
  it('with a row count: just the pages it tells of', async () => {
    const seen = await read((number, size) => envelope(slice(number, size), { pageSize: size, rowCount: 25 }));
    expect(asked().sort()).toEqual(['1/10', '2/10', '3/10']);
    await expectList(seen, 25, true);
  });

  it('without a count or an echo: read on to the end, which is a 404', async () => {
    const seen = await read((number) => (number > 7 ? 404 : slice(number, 4)));
    await expectList(seen, 25, null);
    expect(asked().length).toBeLessThanOrEqual(8);
  });

  it('404 on the first page is no grant; on later ones the end', async () => {
    const { answer } = await read(() => 404);
    expect(answer.json).toMatchObject({ status: 502, code: 'access-not-granted' });
    expect(asked()).toEqual(['1/10']);
  });

  it('pages without end are cut off', async () => {
    const { answer } = await read(
      (number, size) => Array.from({ length: size }, (_, index) => ({ accountId: `id-${number}-${index}` })),
      { BANK_PAGE_SIZE: '5000', SNAPSHOT_READ_TIMEOUT_MS: '60000', REQUEST_DEADLINE_MS: '60000', LOG_LEVEL: 'info' },
    );
    expect(answer.json).toMatchObject({ status: 502, code: 'bank-response-invalid' });
    expect(asked().length).toBeLessThanOrEqual(101);
  }, 90_000);

  describe('drift', () => {
    const drifting = (first: PageOf, second: PageOf): PageOf => {
      let pass = 0;
      return (number, size) => {
        if (number === 1) pass += 1;
        return (pass === 1 ? first : second)(number, size);
      };
    };
    const good: PageOf = (number, size) => envelope(slice(number, size), { pageSize: size, rowCount: 25 });
    const repeated: PageOf = (number, size) =>
      envelope(number === 2 ? ALL.slice(9, 19) : slice(number, size), { pageSize: size, rowCount: 25 });

    it('when an account is seen twice it is read once more; well then, it is complete', async () => {
      const seen = await read(drifting(repeated, good));
      expect(asked().filter((page) => page === '1/10')).toHaveLength(2);
      expect(seen.gateway.events('snapshot.incomplete')).toEqual([]);
      await expectList(seen, 25, true);
    });

    it('when it is seen twice in the second reading too, the list is served and said to be incomplete', async () => {
      const { gateway, answer } = await read(repeated);
      expect(asked().filter((page) => page === '1/10')).toHaveLength(2);
      expect(answer.status).toBe(200);
      expect(answer.json.accounts).toHaveLength(24);
      expect(answer.json.snapshot).toMatchObject({ complete: false, stale: false });
      expect(answer.headers['snapshot-complete']).toBe('false');
      expect(gateway.events('snapshot.incomplete')).toHaveLength(1);
      await expectCommonConditions(bank, gateway, [answer]);
    });
  });

  describe('smaller pages', () => {
    it('after 413, and the size that was accepted is remembered', async () => {
      const seen = await read(
        (number, size) => (size > 50 ? 413 : envelope(slice(number, size), { pageSize: size, rowCount: 25 })),
        { BANK_PAGE_SIZE: '200', SNAPSHOT_FRESH_MS: '0' },
      );
      expect(asked()).toEqual(['1/200', '1/100', '1/50']);
      expect((await seen.gateway.get('/api/v1/accounts')).status).toBe(200);
      expect(asked().slice(3)).toEqual(['1/50']);
      await expectList(seen, 25, true);
    });

    it.each([
      ['in an object of arrays', { errors: { PageSize: ['must be between 1 and 20'] } }],
      ['in a list', { errors: [{ errorCode: 'InvalidpageSize' }] }],
      ['in a title', { title: 'pagesize is too large' }],
    ])('after a 400 that names pageSize %s', async (_name, problem) => {
      bank.onAccounts = (_request, response, url) => {
        const size = Number(url.searchParams.get('PageSize'));
        if (size > 20) json(response, 400, problem, { 'content-type': 'application/problem+json' });
        else
          serve((number) => envelope(slice(number, size), { pageSize: size, rowCount: 25 }))(_request, response, url);
      };
      const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '40' });
      const answer = await askInTime(gateway, '/api/v1/accounts?pageSize=1000');
      expect(asked()).toEqual(['1/40', '1/20', '2/20']);
      await expectList({ gateway, answer }, 25, true);
    });

    it('its twin: another 400 is told as bank-refused, at once', async () => {
      bank.onAccounts = (_request, response) => json(response, 400, { errors: { PageNumber: ['wrong'] } });
      const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '40' });
      expect((await askInTime(gateway)).json.code).toBe('bank-refused');
      expect(asked()).toEqual(['1/40']);
    });
  });

  it('never a part in silence: if one page fails, the reading fails', async () => {
    const { answer, gateway } = await read((number, size) =>
      number === 2 ? 500 : envelope(slice(number, size), { rowCount: 25 }),
    );
    expect(answer.json).toMatchObject({ status: 503, code: 'bank-error', owner: 'bank' });
    expect((await gateway.get('/api/v1/accounts', { 'cache-control': 'only-if-cached' })).json.code).toBe('not-cached');
  });

  it.each([1, 3, 6])('at most BANK_MAX_CONCURRENT_REQUESTS=%d are in flight', async (limit) => {
    const good = serve((number, size) => envelope(slice(number, size), { pageSize: size, rowCount: 25 }));
    bank.onAccounts = (...args) => void delay(20).then(() => good(...args));
    const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '1', BANK_MAX_CONCURRENT_REQUESTS: String(limit) });
    const answer = await askInTime(gateway, '/api/v1/accounts?pageSize=1000');
    expect(asked()).toHaveLength(25);
    expect(bank.most.accounts).toBe(limit);
    await expectList({ gateway, answer }, 25, true);
  });

  it('100 000 accounts', async () => {
    const row = (number: number) => `{"accountId":"${sampleId(number)}","friendlyName":"${number}"}`;
    bank.onAccounts = (_request, response, url) => {
      const first = (Number(url.searchParams.get('PageNumber')) - 1) * 5000 + 1;
      const rows = Array.from({ length: 5000 }, (_, index) => row(first + index));
      json(response, 200, `{"result":[${rows.join()}],"pageInfo":{"pageSize":5000,"rowCount":100000}}`);
    };
    const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '5000' });
    const { json: list } = await askInTime(gateway, '/api/v1/accounts?pageNumber=1000&pageSize=100');
    expect(list.page).toEqual({ number: 1000, size: 100, total: 100_000, hasMore: false });
    expect(list.accounts.at(-1).name).toBe('100000');
    expect(list.snapshot.complete).toBe(true);
    expect(asked()).toHaveLength(20);
  });

  it('each reading has an id of its own, the same on all its pages and in the line of the request', async () => {
    const { gateway } = await read((number, size) => envelope(slice(number, size), { pageSize: size, rowCount: 25 }), {
      SNAPSHOT_FRESH_MS: '0',
    });
    await askInTime(gateway);
    const sent = bank.requests.flatMap(({ path, headers }) =>
      path.startsWith('/api/v1/accounts') ? [headers['x-request-id']] : [],
    );
    expect(sent).toHaveLength(6);
    expect(new Set(sent.slice(0, 3)).size).toBe(1);
    expect(new Set(sent.slice(3)).size).toBe(1);
    expect(sent[0]).not.toBe(sent[3]);
    expect(gateway.events('request').map(({ refreshId }) => refreshId)).toEqual([sent[0], sent[3]]);
  });
});
