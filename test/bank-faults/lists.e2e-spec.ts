import type { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { healthSchema } from '../../src/health/health-schemas.js';
import type { Account } from '../../src/snapshot/account.js';
import { bankForFile } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions, expectNoSecret } from '../support/common-conditions.js';
import { type Gateway, startGateway } from '../support/gateway.js';
import { MovedClock } from '../support/moved-clock.js';
import { type Handler, json, listAccounts, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { PLANTED, sampleAccount, sampleAccounts, sampleId } from '../support/sample-accounts.js';
import { start } from '../support/sandbox.js';

const bank = await bankForFile();

describe('pages', () => {
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
    it('with a row count: just the pages it counts', async () => {
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

      it('when it is seen twice in the second refresh too, the list is served and said to be incomplete', async () => {
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

      it('the counterpart: another 400 is reported as bank-refused, at once', async () => {
        bank.onAccounts = (_request, response) => json(response, 400, { errors: { PageNumber: ['wrong'] } });
        const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '40' });
        expect((await askInTime(gateway)).json.code).toBe('bank-refused');
        expect(asked()).toEqual(['1/40']);
      });
    });

    it('never silently partial: if one page fails, the refresh fails', async () => {
      const { answer, gateway } = await read((number, size) =>
        number === 2 ? 500 : envelope(slice(number, size), { rowCount: 25 }),
      );
      expect(answer.json).toMatchObject({ status: 503, code: 'bank-error', owner: 'bank' });
      expect((await gateway.get('/api/v1/accounts', { 'cache-control': 'only-if-cached' })).json.code).toBe(
        'not-cached',
      );
    });

    it('100 000 accounts', async () => {
      const row = (number: number) => `{"accountId":"${sampleId(number)}","friendlyName":"${number}"}`;
      bank.onAccounts = (_request, response, url) => {
        const first = (Number(url.searchParams.get('PageNumber')) - 1) * 5000 + 1;
        const rows = Array.from({ length: 5000 }, (_, index) => row(first + index));
        json(response, 200, `{"result":[${rows.join()}],"pageInfo":{"pageSize":5000,"rowCount":100000}}`);
      };
      const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '5000', REQUEST_DEADLINE_MS: '60000' });
      const { json: list } = await askInTime(gateway, '/api/v1/accounts?pageNumber=1000&pageSize=100');
      expect(list.page).toEqual({ number: 1000, size: 100, total: 100_000, hasMore: false });
      expect(list.accounts.at(-1).name).toBe('100000');
      expect(list.snapshot.complete).toBe(true);
      expect(asked()).toHaveLength(20);
    });

    it('each refresh has an id of its own, the same on all its pages and in the line of the request', async () => {
      const { gateway } = await read(
        (number, size) => envelope(slice(number, size), { pageSize: size, rowCount: 25 }),
        {
          SNAPSHOT_FRESH_MS: '0',
        },
      );
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
});

describe('cost', () => {
  const calls = () => bank.requests.filter(({ path }) => path.startsWith('/api/v1/accounts')).length;

  /** What `callers` at once cost a bank that answers the calls for the list so, one after the other, and the last forever. */
  async function costOf(statuses: readonly number[], { callers = 20, env = {} as Record<string, string> } = {}) {
    let nth = 0;
    bank.onAccounts = (_request, response) => {
      const status = statuses[Math.min(nth++, statuses.length - 1)] as number;
      const rows = [sampleAccount(1)];
      json(response, status, status === 200 ? { result: rows, pageInfo: { rowCount: 1 } } : {});
    };
    const clock = new MovedClock();
    // on a busy machine the back-off must not pass
    clock.stop();
    const gateway = await startGateway(bank, env, clock);
    const answers = await Promise.all(Array.from({ length: callers }, () => askInTime(gateway, '/api/v1/accounts')));
    return { calls: calls(), tokens: bank.tokens.length, statuses: [...new Set(answers.map(({ status }) => status))] };
  }

  describe('what one refresh costs the bank at most (docs/architecture.md#every-retry)', () => {
    it.each([
      ['all is well', [200], { calls: 1, tokens: 1, statuses: [200] }],
      ['it answers 500', [500], { calls: 1, tokens: 1, statuses: [503] }],
      ['it answers 503', [503], { calls: 2, tokens: 1, statuses: [503] }],
      ['it answers 401', [401], { calls: 2, tokens: 2, statuses: [502] }],
      ['it answers 401, then 503', [401, 503], { calls: 3, tokens: 2, statuses: [503] }],
      ['it answers 503, then 401', [503, 401], { calls: 3, tokens: 2, statuses: [502] }],
      ['it answers 401, then 503, then 401', [401, 503, 401], { calls: 3, tokens: 2, statuses: [502] }],
      ['it is well at the third call', [401, 503, 200], { calls: 3, tokens: 2, statuses: [200] }],
    ])('when %s', async (_name, statuses, cost) => {
      expect(await costOf(statuses)).toEqual(cost);
    });

    it('when the list moves under it: each page twice, and no more', async () => {
      let count = 0;
      bank.onAccounts = (_request, response, url) => {
        const number = Number(url.searchParams.get('PageNumber'));
        // another count each time, so that no refresh ever agrees with itself
        json(response, 200, {
          result: number > 3 ? [] : [sampleAccount(2 * number - 1), sampleAccount(2 * number)],
          pageInfo: { currentPage: number, pageSize: 2, rowCount: 5 + (count++ % 2) },
        });
      };
      const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '2' });
      const answer = await askInTime(gateway, '/api/v1/accounts');
      expect(answer.json.snapshot.complete).toBe(false);
      expect(calls()).toBe(6);
    });
  });
});

describe('tolerance', () => {
  const ONE = sampleAccount(1);

  /** What callers get when the bank sends exactly this. */
  async function read(text: string | Buffer, headers: Record<string, string> = {}) {
    bank.onAccounts = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(text);
    };
    const gateway = await startGateway(bank);
    const answer = await askInTime(gateway);
    expect({ status: answer.status, detail: answer.json.detail }).toEqual({ status: 200, detail: undefined });
    await expectCommonConditions(bank, gateway, [answer]);
    return answer.json as { accounts: Account[]; page: { total: number }; snapshot: { complete: boolean | null } };
  }

  const page = (account: unknown, more: object = {}) =>
    JSON.stringify({ result: [account], pageInfo: { currentPage: 1, pageSize: 1000, rowCount: 1 }, ...more });

  describe('the account list is read tolerantly', () => {
    it.each([
      ['result without pageInfo', { result: [ONE] }, null],
      ['rowCount as text', { result: [ONE], pageInfo: { pageSize: '50', rowCount: '1' } }, true],
      ['a bare array', [ONE], null],
      ['new fields everywhere', { result: [{ ...ONE, newOne: { deep: [1, { x: null }] } }], links: {} }, null],
    ])('%s', async (_name, document, complete) => {
      const { accounts, page, snapshot } = await read(JSON.stringify(document));
      expect(accounts.map(({ id }) => id)).toEqual([sampleId(1)]);
      expect(page.total).toBe(1);
      expect(snapshot.complete).toBe(complete);
    });

    it.each([
      ['text/plain', 'text/plain; charset=utf-8'],
      ['text/json', 'text/json'],
      ['no type at all', ''],
    ])('content type %s', async (_name, type) => {
      expect((await read(page(ONE), { 'content-type': type })).accounts).toHaveLength(1);
    });

    it('early hints before the answer', async () => {
      bank.onAccounts = (_request, response) => {
        response.writeEarlyHints({ link: '</style.css>; rel=preload' });
        response.writeHead(200, { 'content-type': 'application/json' }).end(page(ONE));
      };
      const gateway = await startGateway(bank);
      expect((await askInTime(gateway)).json.page.total).toBe(1);
    });

    it('an idle connection that the bank closes just as it is used again', async () => {
      const used = new Map<Socket, number>();
      const good = bank.onAccounts;
      bank.onAccounts = (request, ...rest) => {
        const times = (used.get(request.socket) ?? 0) + 1;
        used.set(request.socket, times);
        if (times > 1) request.socket.destroy();
        else good(request, ...rest);
      };
      const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0' });
      const answers = [await askInTime(gateway), await askInTime(gateway), await askInTime(gateway)];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers.map(({ json }) => json.snapshot.stale)).toEqual([false, false, false]);
      expect(used.size).toBeGreaterThan(1);
      expect(gateway.events('bank.unavailable')).toEqual([]);
      await expectCommonConditions(bank, gateway, answers);
    });
  });
});

describe('drift', () => {
  let bank: PretendBank;
  beforeAll(async () => {
    bank = await startPretendBank();
  });

  const CHANGED = {
    status: 'Frozen',
    newField: PLANTED.text,
    [PLANTED.iban]: PLANTED.iban,
    balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: 1, availableAmount: 12.5 }],
  };
  const DRIFT = [
    { path: 'status', value: 'Frozen' },
    { path: 'balances[].availableAmount' },
    { path: 'newField' },
    { path: '*' },
  ];

  describe('what the bank sends that the gateway does not know', () => {
    it('is served, logged once and listed in /health, which stays ok', async () => {
      const clock = new MovedClock();
      const gateway = await startGateway(bank, { BANK_PAGE_SIZE: '50' }, clock);
      bank.onAccounts = listAccounts(sampleAccounts(120));
      expect((await gateway.get('/api/v1/accounts')).status).toBe(200);
      expect((await gateway.get('/health')).json.details.bank.drift).toEqual([]);
      expect(gateway.events('bank.drift')).toEqual([]);

      // on the last page
      bank.onAccounts = listAccounts([...sampleAccounts(119), sampleAccount(120, CHANGED)]);
      for (let refresh = 0; refresh < 3; refresh++) {
        clock.advance(20_000);
        const { json } = await gateway.get('/api/v1/accounts?status=frozen');
        expect(json).toMatchObject({ page: { total: 1 }, accounts: [{ status: 'Frozen' }] });
      }
      const health = (await gateway.get('/health')).json;
      expect(healthSchema.strict().parse(health).status).toBe('ok');
      expect(health.details.bank).toMatchObject({ status: 'up', drift: DRIFT });
      const logged = gateway.events('bank.drift');
      expect(logged).toEqual(
        DRIFT.map((drift) => ({
          level: 'warn',
          time: expect.any(String),
          event: 'bank.drift',
          ...drift,
          msg: expect.any(String),
        })),
      );
      expectNoSecret(gateway.lines.join('') + JSON.stringify(health), [PLANTED.iban, PLANTED.text]);
    });

    it('is nothing that the sandbox sends, odd as its accounts are', async () => {
      const sandbox = await start({ accounts: 2000 });
      const gateway = await startGateway(sandbox);
      expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(2000);
      expect(gateway.events('bank.drift')).toEqual([]);
      expect((await gateway.get('/health')).json.details.bank.drift).toEqual([]);
    });
  });
});
