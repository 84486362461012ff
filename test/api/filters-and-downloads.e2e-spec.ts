import { request } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { type Gateway, get, startGateway } from '../support/gateway.js';
import { json, listAccounts, type PretendBank, startPretendBank } from '../support/pretend-bank.js';
import { sampleAccount, sampleAccounts, sampleId } from '../support/sample-accounts.js';
import { until } from '../support/until.js';

describe('filters, sort and formats', () => {
  const PATH = '/api/v1/accounts';
  const HOSTILE = [
    '=cmd|calc',
    '+1',
    '-1',
    '@SUM(A1)',
    'say "hi", they said',
    'two\r\nlines',
    'lone\nfeed',
    '👩‍👧 東京',
    ' spaced ',
  ];
  const AMOUNTS = ['19435.50', '-0.01', '12345678901234567890', '0.10', '1e3', '0', '-7.000', '1.5E-7', '100'];
  const WRITTEN = ['19435.50', '-0.01', '12345678901234567890', '0.10', '1000', '0', '-7.000', '0.00000015', '100'];

  let bank: PretendBank;
  let gateway: Gateway;
  beforeAll(async () => {
    bank = await startPretendBank();
    bank.onAccounts = (_request, response) => {
      const rows = HOSTILE.map((name, index) => {
        const account = sampleAccount(index + 1, {
          friendlyName: name,
          status: index % 2 ? 'Closed' : 'Active',
          currency: index % 3 ? 'EUR' : 'USD',
          ownedByCompanyId: `owner-${index % 2}`,
          ibans: [`DE0${index}`],
          accountIdentifiers: null,
          balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: `#${index}#`, intraDayAmount: 0 }],
        });
        // the digits as a bank writes them, which JSON.stringify would change
        return JSON.stringify(account).replace(/"#(\d+)#"/, (_all, at) => AMOUNTS[Number(at)] as string);
      });
      json(response, 200, `{"result":[${rows.join()}],"pageInfo":{"pageSize":1000,"rowCount":${rows.length}}}`);
    };
    gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '600000' });
  });

  const ids = async (query: string) =>
    ((await gateway.get(`${PATH}?${query}`)).json.accounts as { id: string }[]).map(({ id }) => Number(id.slice(-12)));
  const rows = (text: string) =>
    parse(text, { bom: true, columns: true, record_delimiter: '\r\n' }) as Record<string, string>[];

  describe('queries of the accounts', () => {
    it.each([
      ['status=CLOSED&sort=openedAt', [2, 4, 6, 8]],
      ['currency=usd&sort=-status', [4, 1, 7]],
      ['ownerid=OWNER-1&sort=openedAt', [2, 4, 6, 8]],
      ['iban=de%2000', [1]],
      ['iban=DE', []],
      ['q=SPACED', [9]],
      ['q=%E6%9D%B1', [8]],
      ['q=de03', [4]],
      ['sort=current', [7, 2, 6, 8, 4, 9, 5, 1, 3]],
      ['sort=-current&pageSize=2', [3, 1]],
      ['sort=-current&pageSize=2&pageNumber=5', [7]],
      ['sort=-current&pageSize=2&pageNumber=6', []],
    ])('%s', async (query, expected) => {
      expect(await ids(query)).toEqual(expected);
      // once more, by the short way
      expect(await ids(query)).toEqual(expected);
    });

    it('the page shows how many match', async () => {
      const { json: body } = await gateway.get(`${PATH}?status=active&pageSize=2&pageNumber=2`);
      expect(body.page).toEqual({ number: 2, size: 2, total: 5, hasMore: true });
    });

    it('the short way gives what the long one gave, and minds every header', async () => {
      const url = `${PATH}?q=operating&pageSize=7`;
      const [long, short] = [await gateway.get(url), await gateway.get(url)];
      expect(short.text).toBe(long.text);
      const names = (headers: object) => Object.keys(headers).sort();
      expect(names(short.headers)).toEqual(names(long.headers));
      expect((await gateway.get(url, { accept: 'text/csv' })).headers['content-type']).toContain('text/csv');
      expect((await gateway.get(url, { accept: 'image/png' })).status).toBe(406);
      expect((await gateway.get(url, { 'cache-control': 'max-age=600, only-if-cached' })).status).toBe(200);
      expect((await gateway.get(url, { 'if-none-match': String(long.headers.etag) })).status).toBe(304);
      expect((await gateway.get(url, { host: 'elsewhere' })).status).toBe(421);
      const hits = gateway.events('request').filter(({ cache, route }) => cache === 'hit' && route === PATH);
      expect(hits.length).toBeGreaterThan(1);
    });

    it.each([
      [{}, 'application/json; charset=utf-8'],
      [{ accept: '*/*' }, 'application/json; charset=utf-8'],
      [{ accept: 'application/json; charset=UTF-8' }, 'application/json; charset=utf-8'],
      [{ accept: 'text/csv' }, 'text/csv; charset=utf-8'],
      [{ accept: 'text/*, application/json;q=0.5' }, 'text/csv; charset=utf-8'],
      [{ accept: 'application/x-ndjson' }, 'application/x-ndjson; charset=utf-8'],
    ])('Accept %j gives %s', async (headers, type) => {
      expect((await gateway.get(PATH, headers)).headers['content-type']).toBe(type);
    });

    it('format wins over Accept; what nobody makes is 406', async () => {
      expect(
        (await gateway.get(`${PATH}?format=csv`, { accept: 'application/json' })).headers['content-type'],
      ).toContain('csv');
      expect((await gateway.get(`${PATH}?format=json`, { accept: 'text/csv' })).json.accounts).toHaveLength(9);
      expect((await gateway.get(`${PATH}?format=json`, { accept: 'image/png' })).status).toBe(200);
      for (const path of [PATH, `${PATH}/${sampleId(1)}`, '/api/v1/balances']) {
        const refused = await gateway.get(path, { accept: 'application/xml' });
        expect([refused.status, refused.json.code]).toEqual([406, 'not-acceptable']);
      }
      expect((await gateway.get('/api/v1/balances', { accept: 'text/csv' })).status).toBe(406);
    });

    it('digits survive from the bank to JSON, CSV and NDJSON; hostile names are defused in CSV alone', async () => {
      const list = (await gateway.get(`${PATH}?sort=openedAt`)).json.accounts;
      const lines = (await gateway.get(`${PATH}?sort=openedAt&format=ndjson&pageSize=2`)).text.trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line))).toEqual(list);
      const csv = await gateway.get(`${PATH}?sort=openedAt&format=csv&pageSize=2`);
      expect(csv.text.startsWith('\uFEFFid,name,')).toBe(true);
      const table = rows(csv.text);
      expect(table).toHaveLength(9);
      for (const [index, row] of table.entries()) {
        expect(list[index].name).toBe(HOSTILE[index]);
        expect(list[index].balances[0].beginOfDay).toBe(WRITTEN[index]);
        expect(row['beginOfDay']).toBe(WRITTEN[index]);
        expect(row['current']).toBe(WRITTEN[index]);
        expect(row['name']).toBe(`${/^[=+\-@]/.test(HOSTILE[index] as string) ? "'" : ''}${HOSTILE[index]}`);
        expect(row['asOf']).toBe(csv.headers['snapshot-as-of']);
      }
    });

    it('CSV and NDJSON are tagged and compressed like the rest, and HEAD has no body', async () => {
      const url = `${gateway.url}${PATH}?format=csv`;
      const plain = await get(url);
      expect(plain.headers.etag).toMatch(/^W\/"/);
      expect((await get(url, { 'if-none-match': String(plain.headers.etag) })).status).toBe(304);
      expect((await gateway.get(`${PATH}?format=ndjson`)).headers.etag).not.toBe(plain.headers.etag);
      const packed = await fetch(url, { headers: { 'accept-encoding': 'br' } });
      expect(packed.headers.get('content-encoding')).toBe('br');
      expect(await packed.text()).toBe(plain.text.slice(1));
      const head = await fetch(url, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-type'), head.headers.get('content-length')]).toEqual([
        200,
        'text/csv; charset=utf-8',
        null,
      ]);
      expect(head.headers.get('etag')).toBe(plain.headers.etag);
    });

    it('balances are summed exactly, over the same filters', async () => {
      const { json: all } = await gateway.get('/api/v1/balances');
      expect(all.totals).toEqual([
        {
          currency: 'EUR',
          accounts: 9,
          missing: 0,
          beginOfDay: '12345678901234588418.59000015',
          intraDay: '0',
          current: '12345678901234588418.59000015',
          earliestFinancialDate: null,
          latestFinancialDate: null,
        },
      ]);
      const { json: closed } = await gateway.get('/api/v1/balances?status=closed');
      expect(closed.totals[0]).toMatchObject({ accounts: 4, current: '0.09000015' });
      expect((await gateway.get('/api/v1/balances?sort=name')).json.errors).toMatchObject([{ name: 'sort' }]);
      expect((await gateway.get('/api/v1/balances?q=nothing+like+it')).json.totals).toEqual([]);
    });
  });
});

describe('edges', () => {
  const PATH = '/api/v1/accounts';
  const IBAN = 'LU060408123456789012';
  const HIDDEN_FORMULA = '\u0000=1+1';

  let gateway: Gateway;
  beforeAll(async () => {
    const bank = await startPretendBank();
    bank.onAccounts = (_request, response) => {
      const named = sampleAccount(1, {
        friendlyName: HIDDEN_FORMULA,
        ibans: [IBAN],
        balances: [{ type: 'CurrentBalance', currency: 'EUR', beginOfDayAmount: 1234.5, intraDayAmount: -0.25 }],
      });
      const bare = sampleAccount(2, { friendlyName: 'semi;colon', ibans: null, accountIdentifiers: null });
      json(response, 200, { result: [named, bare], pageInfo: { pageSize: 1000, rowCount: 2 } });
    };
    gateway = await startGateway(bank);
  });

  describe('a filter of which nothing is left', () => {
    it.each([
      ['iban', '%20'],
      ['iban', '%20%C2%A0'],
      ['iban', '%CC%81'],
      ['q', '%CC%81'],
      ['q', ''],
    ])('%s=%s is refused, on the list and on the balances', async (name, value) => {
      for (const path of [PATH, '/api/v1/balances', `${PATH}?format=csv`]) {
        const { status, json: problem } = await gateway.get(`${path}${path.includes('?') ? '&' : '?'}${name}=${value}`);
        expect([path, status, problem.errors?.map((each: { name: string }) => each.name)]).toEqual([path, 400, [name]]);
      }
    });

    it.each(['iban=LU06%200408%201234%205678%209012', 'q=LU06%200408', 'q=lu06+0408+1234', 'q=%20LU06'])(
      'the counterpart: spaces where they stand in an IBAN are ignored: %s',
      async (query) => {
        const { json: list } = await gateway.get(`${PATH}?${query}`);
        expect(list.accounts.map(({ iban }: { iban: string }) => iban)).toEqual([IBAN]);
        expect((await gateway.get(`/api/v1/balances?${query}`)).json.totals).toMatchObject([{ accounts: 1 }]);
      },
    );

    it('and a space that stands in no account finds none', async () => {
      expect((await gateway.get(`${PATH}?q=LU06%200409`)).json.page.total).toBe(0);
    });
  });

  describe('CSV', () => {
    it.each([
      ['', ',', '1234.25'],
      ['&separator=semicolon&decimal=comma', ';', '1234,25'],
      ['&separator=tab', '\t', '1234.25'],
      ['&decimal=comma', ',', '1234,25'],
    ])('with %j has %j between columns and amounts as %s', async (more, delimiter, current) => {
      const { headers, text } = await gateway.get(`${PATH}?format=csv${more}`);
      expect(headers['content-type']).toBe('text/csv; charset=utf-8');
      const rows = parse(text, { bom: true, columns: true, delimiter }) as Record<string, string>[];
      expect(rows.map((row) => row['iban']).toSorted()).toEqual(['', IBAN]);
      expect(rows.find((row) => row['iban'] === IBAN)?.['current']).toBe(current);
      expect(rows.some((row) => row['name'] === 'semi;colon')).toBe(true);
    });

    it('defuses a formula behind a control character; JSON keeps the name as it is', async () => {
      expect((await gateway.get(`${PATH}?format=csv`)).text).toContain(`,'${HIDDEN_FORMULA},`);
      const { json: list } = await gateway.get(PATH);
      expect(list.accounts.map(({ name }: { name: string }) => name)).toContain(HIDDEN_FORMULA);
    });

    it('another separator is refused', async () => {
      expect((await gateway.get(`${PATH}?format=csv&separator=pipe`)).json.errors).toMatchObject([
        { name: 'separator' },
      ]);
    });
  });

  describe("the bank's count", () => {
    it.each([
      ['120.0', true],
      ['1.2e2', true],
      ['"120"', true],
      ['121.0', false],
      ['120.5', null],
    ])('written as %s is taken as it is meant: complete is %s', async (count, complete) => {
      const bank = await startPretendBank();
      const rows = Array.from({ length: 120 }, (_each, index) => JSON.stringify(sampleAccount(index + 1)));
      bank.onAccounts = (_request, response) =>
        json(response, 200, `{"result":[${rows.join()}],"pageInfo":{"pageSize":1000,"rowCount":${count}}}`);
      const other = await startGateway(bank);
      const { json: list } = await other.get(`${PATH}?pageSize=1`);
      expect([list.page.total, list.snapshot.complete]).toEqual([120, complete]);
      await other.close();
    });
  });
});

describe('downloads', () => {
  /** Reads the first bytes and goes. */
  function leaveEarly(url: string, headers: Record<string, string>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    request(url, { agent: false, headers }, (response) => {
      response.once('data', () => {
        response.destroy();
        resolve();
      });
      response.on('error', () => undefined);
    })
      .on('error', reject)
      .end();
    return promise;
  }

  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const compressors = () => process.getActiveResourcesInfo().filter((name) => name === 'Zlib').length;

  describe('a caller who leaves in the middle of a stream', () => {
    it.each([
      ['csv', {}],
      ['ndjson', {}],
      ['csv', { 'accept-encoding': 'gzip' }],
      ['ndjson', { 'accept-encoding': 'br' }],
    ])('%s %j leaves nothing behind', async (format, headers) => {
      const bank = await startPretendBank();
      bank.onAccounts = listAccounts(sampleAccounts(8000));
      const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '600000', LOG_LEVEL: 'info' });
      const url = `${gateway.url}/api/v1/accounts?format=${format}`;
      expect((await gateway.get('/api/v1/accounts')).json.page.total).toBe(8000);
      const connections = () =>
        new Promise<number>((resolve) =>
          gateway.app.getHttpServer().getConnections((_error: unknown, count: number) => resolve(count)),
        );
      await leaveEarly(url, headers);
      await until(async () => (await connections()) === 0);
      const [timersBefore, compressorsBefore] = [timers(), compressors()];
      await Promise.all(Array.from({ length: 20 }, () => leaveEarly(url, headers)));
      await until(async () => (await connections()) === 0);
      await until(() => timers() <= timersBefore + 2 && compressors() <= compressorsBefore);
      expect(gateway.lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
      // the counterpart, who stays, gets all
      const all = await gateway.get(`/api/v1/accounts?format=${format}`);
      expect(all.text.trimEnd().split('\n')).toHaveLength(format === 'csv' ? 8001 : 8000);
    });
  });

  describe('a caller who takes a stream slowly', () => {
    it.each(['csv', 'ndjson'])(
      '%s gets all of the list as it was, though it has been read again twice',
      async (format) => {
        const bank = await startPretendBank();
        bank.onAccounts = listAccounts(sampleAccounts(8000));
        const gateway = await startGateway(bank, { SNAPSHOT_FRESH_MS: '0', LOG_LEVEL: 'info' });
        const whole = await gateway.get(`/api/v1/accounts?format=${format}`);
        const { promise, resolve, reject } = Promise.withResolvers<string>();
        request(`${gateway.url}/api/v1/accounts?format=${format}`, { agent: false }, (response) => {
          response.once('readable', async () => {
            bank.onAccounts = listAccounts(sampleAccounts(3));
            for (let refresh = 0; refresh < 2; refresh++) {
              const { json } = await gateway.get('/api/v1/accounts', { 'cache-control': 'max-age=0' });
              expect(json.page.total).toBe(3);
            }
            response.setEncoding('utf8');
            resolve((await response.toArray()).join(''));
          });
        })
          .on('error', reject)
          .end();
        const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z\r$/gm, '');
        expect(withoutTimes(await promise)).toBe(withoutTimes(whole.text));
      },
    );
  });
});
