import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createClient, type Account, type Problem } from '../src/index.js';
import { createFakeGateway } from '../testing/index.js';
import type { AnswerCode, FakeGateway } from '../src/testing.js';
import type { ControlPatch } from '../../src/sandbox/control/control-patch.js';
import { call, get, type Answer } from '../../test/support/call.js';
import { until } from '../../test/support/until.js';
import { temporaryDirectory } from '../../test/support/closing.js';
import { startConnectProxy, type Connect } from '../../test/support/connect-proxy.js';
import { ROOT } from '../../test/support/documents.js';
import { programEnvironment, startProgram } from '../../test/support/program.js';
import { rawCall, rawRequest, sendRaw } from '../../test/support/raw-connection.js';
import { directoryWithIdentity, directoryWithOtherIdentity, start } from '../../test/support/sandbox.js';
import { closedPort } from '../../test/support/servers.js';

const ACCOUNTS = '/api/v1/accounts';
/** A short one, so that a failure prints short differences. */
const LIST = `${ACCOUNTS}?pageSize=3`;
const NOW = { 'cache-control': 'no-cache' };
const ALL_CALLS = 1_000_000;
/** Longer than the default: on a busy machine, a refresh from a healthy bank can take more than a second. */
const SOFT_TIMEOUT_MS = 3000;

type Headers_ = Record<string, string>;
type Comparable = Pick<Answer, 'status' | 'text'> & { readonly headers: Answer['headers'] };

/** The comparable form of a response: values that depend on the moment or the connection are replaced. */
function toComparable({ status, headers: all, text }: Comparable) {
  const headers = Object.fromEntries(Object.entries(all).filter(([name]) => !OF_THE_CONNECTION.has(name)));
  for (const [name, form] of Object.entries(FORMS)) {
    if (headers[name] !== undefined) headers[name] = String(headers[name]).replace(form, '*');
  }
  return { status, headers, body: text.replaceAll(MOMENT, '*') };
}
const OF_THE_CONNECTION = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']);
const MOMENT =
  /\b\d{4}-\d\d-\d\dT[\d:.]+Z(?=","expiresAt|","stale|\r|$)|(?<="requestId":")[\w-]{36}(?=")|(?<="detail":")The (bank|account list)[^"]*/gm;
const FORMS = {
  etag: /^W\/"[\w-]{27}"$/,
  'retry-after': /^\d+$/,
  // of a stale response: until the next attempt
  'cache-control': /max-age=(?!10$)\d+$/,
  'snapshot-as-of': /^.*$/,
  'snapshot-expires-at': /^.*$/,
  'x-request-id': /^[\w-]{36}$/,
};

let url: string;
let fake: FakeGateway;
/** Both clocks stand still; only `advance` moves them. */
let movedMs = 0;
const CLOCK = ['--import', join(ROOT, 'test/support/moved-time.mjs')];
const toClockFile = (ms: number): string => {
  const file = join(temporaryDirectory(), 'moved-ms');
  writeFileSync(file, String(ms));
  return file;
};
const clockFile = toClockFile(0);
/** In one step: the program must never read half a file, which would turn its clock back. */
const moveClock = (ms: number) => {
  writeFileSync(`${clockFile}.new`, String((movedMs += ms)));
  renameSync(`${clockFile}.new`, clockFile);
};
const stopped = { wall: Date.now(), monotonic: Math.floor(performance.now()) };

beforeAll(async () => {
  const program = await startProgram({
    args: ['serve', '--sandbox'],
    env: {
      PORT: '0',
      SANDBOX_DIRECTORY: directoryWithIdentity(),
      MOVED_TIME: clockFile,
      // of a hanging bank
      BANK_REQUEST_TIMEOUT_MS: '6000',
      SNAPSHOT_SOFT_TIMEOUT_MS: String(SOFT_TIMEOUT_MS),
    },
    cwd: temporaryDirectory(),
    nodeFlags: CLOCK,
  });
  url = await program.started();
  const accounts: Account[] = [];
  for await (const account of createClient({ baseUrl: url }).allAccounts()) accounts.push(account);
  fake = createFakeGateway({ accounts });
  await askFake(ACCOUNTS);
});
function advance(ms: number): void {
  moveClock(ms);
  fake.advance(ms);
}

async function askFake(path: string, headers: Headers_ = {}, method = 'GET'): Promise<Comparable> {
  const clocks = [
    jest.spyOn(Date, 'now').mockReturnValue(stopped.wall),
    jest.spyOn(performance, 'now').mockReturnValue(stopped.monotonic),
  ];
  try {
    const response = await fake.fetch(path, { method, headers });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: Buffer.from(await response.arrayBuffer()).toString('utf8'),
    };
  } finally {
    for (const clock of clocks) clock.mockRestore();
  }
}
const askBoth = (path: string, headers?: Headers_, method?: string) =>
  Promise.all([get(url + path, headers, method), askFake(path, headers, method)]);

/** Sends the same call to both. */
async function compare(path: string, headers?: Headers_, method?: string): Promise<Answer> {
  const [real, faked] = await askBoth(path, headers, method);
  expect(toComparable(faked)).toEqual(toComparable(real));
  return real;
}

/** The bank is as at the start, and both have just read its accounts. */
async function reset(): Promise<void> {
  await call(`${url}/sandbox/control`, { method: 'DELETE' });
  fake.set('well');
  advance(301_000);
  await askBoth(ACCOUNTS);
}

async function patch(change: ControlPatch): Promise<void> {
  const body = JSON.stringify(change);
  const headers = { 'content-type': 'application/json' };
  expect((await call(`${url}/sandbox/control`, { method: 'PATCH', headers, body })).status).toBe(200);
}

describe('the fake gateway responds like the built gateway:', () => {
  it.each([
    [200, ''],
    [200, '?pageSize=7&pageNumber=3'],
    [200, '?PageSize=1000&sort=-current'],
    [200, '?q=soci%C3%A9te&status=active'],
    [200, '?pageNumber=999'],
    [200, '?format=ndjson&currency=USD'],
    [200, '?format=csv&separator=semicolon&decimal=comma'],
    [400, '?pageSize=1001&unknown=1'],
    [400, '?q='],
    [400, '?status=a&Status=b'],
  ])('%i for the list%s', async (status, search) => {
    expect((await compare(ACCOUNTS + search)).status).toBe(status);
  });

  it.each([
    ['text/csv', 200],
    ['application/x-ndjson, */*;q=0.1', 200],
    ['image/png', 406],
  ])('to Accept: %s', async (accept, status) => {
    expect((await compare(`${ACCOUNTS}?currency=EUR`, { accept })).status).toBe(status);
    expect((await compare(`${ACCOUNTS}/none`, { accept })).status).toBe(
      status === 406 || accept === 'text/csv' ? 406 : 404,
    );
  });

  it('on every route of the API', async () => {
    const { paths } = (await get(`${url}/openapi.json`)).json as { paths: object };
    const routes = Object.keys(paths).filter((path) => path.startsWith('/api/v1/'));
    expect(routes).toContain(ACCOUNTS);
    for (const route of routes) expect((await compare(`${route}?nothing=`)).status).toBe(400);
  });

  it('for an account, a missing account, and a parameter of another route', async () => {
    const { accounts } = (await get(`${url}${ACCOUNTS}?pageSize=1`)).json as { accounts: Account[] };
    expect((await compare(`${ACCOUNTS}/${accounts[0]?.id}`)).status).toBe(200);
    expect((await compare(`${ACCOUNTS}/none`)).status).toBe(404);
    expect((await compare(`${ACCOUNTS}/none?q=a`)).status).toBe(400);
  });

  it.each([
    [200, ''],
    [200, '?currency=EUR'],
    [400, '?pageNumber=1'],
  ])('%i for the totals%s', async (status, search) => {
    expect((await compare(`/api/v1/balances${search}`)).status).toBe(status);
  });

  it.each([
    ['GET', '/api/v1/none', 404],
    ['GET', `${ACCOUNTS}/%zz`, 400],
    ['GET', `${ACCOUNTS}/%zz?pageSize=0`, 400],
    ['GET', '/api/v1/%E0', 400],
    ['POST', `${ACCOUNTS}/%zz`, 405],
    ['OPTIONS', `${ACCOUNTS}/%zz`, 204],
    ['HEAD', ACCOUNTS, 200],
    ['POST', ACCOUNTS, 405],
    ['OPTIONS', ACCOUNTS, 204],
  ])('%s %s: %i', async (method, path, status) => {
    expect((await compare(path, {}, method)).status).toBe(status);
  });

  it("with the caller's request id, or with a new one if that is invalid", async () => {
    await compare(ACCOUNTS, { 'x-request-id': 'r-1' });
    await compare(ACCOUNTS, { 'x-request-id': 'two words' });
  });

  it('with a 304 for the same data, also after a refresh, and with a 200 for other tags', async () => {
    const tags = (await askBoth(LIST)).map(({ headers }) => headers['etag']).join(', ');
    for (const ms of [0, 11_000]) {
      advance(ms);
      expect((await compare(LIST, { 'if-none-match': tags })).status).toBe(304);
    }
    expect((await compare(LIST, { 'if-none-match': 'W/"none"' })).status).toBe(200);
  });

  it('with a refresh for no-cache, and if the copy is older than 10 s', async () => {
    advance(3000);
    await compare(LIST);
    await compare(LIST, NOW);
    advance(11_000);
    await compare(LIST);
    await compare(LIST, { 'cache-control': 'max-stale' });
  });
});

describe('in the scene', () => {
  afterEach(reset);

  it('down: the copy, then 503', async () => {
    await patch({ failNext: [{ endpoint: 'accounts', times: ALL_CALLS, with: '503' }] });
    fake.set('down');
    advance(11_000);
    const { headers } = await compare(LIST);
    expect(headers['snapshot-stale']).toBe('true');
    expect((await compare(LIST, NOW)).status).toBe(503);
    advance(290_000);
    expect((await compare(LIST)).status).toBe(503);
    expect((await compare('/api/v1/balances')).status).toBe(503);
  });

  it('slow: the copy after the soft timeout, and then the new data', async () => {
    await patch({ latencyMs: SOFT_TIMEOUT_MS + 500 });
    fake.set('slow');
    advance(11_000);
    const { headers } = await compare(LIST);
    expect(headers['snapshot-stale']).toBe('true');
    fake.advance(5000);
    moveClock(5000);
    await get(url + LIST, NOW);
    expect((await compare(LIST)).headers['snapshot-stale']).toBe('false');
  });

  it('empty: no accounts', async () => {
    await patch({ accounts: 0 });
    fake.set('empty');
    advance(60_000);
    expect((await compare(LIST)).json).toMatchObject({ accounts: [], page: { total: 0 } });
    await compare('/api/v1/balances');
  });

  it('moving: different balances of the same accounts', async () => {
    const before = await askBoth(LIST);
    await patch({ movement: true });
    fake.set('moving');
    advance(60_000);
    const after = await askBoth(LIST);
    const [real, faked] = after.map((answer) => toComparable({ ...answer, text: answer.text.replaceAll(AMOUNT, '*') }));
    expect(faked).toEqual(real);
    for (const [index, { text, headers }] of after.entries()) {
      expect(text).not.toBe(before[index]?.text);
      expect(headers['etag']).not.toBe(before[index]?.headers['etag']);
    }
  });
  const AMOUNT = /(?<="(intraDay|current|lastTransactionAt)":")[^"]*/g;

  it('gone: a network error', async () => {
    const codeOf = (client: ReturnType<typeof createClient>) =>
      client.listAccounts().catch(({ code }: Problem) => code);
    fake.set('gone');
    const real = await codeOf(createClient({ baseUrl: `http://127.0.0.1:${await closedPort()}` }));
    expect([real, await codeOf(createClient({ baseUrl: url, fetch: fake.fetch }))]).toEqual([
      'network-error',
      'network-error',
    ]);
  });
});

describe('fail', () => {
  /** Asserts that a problem has the same fields as the real gateway's, but not the texts of this failure. */
  function toForm(answer: Comparable) {
    const { status, headers } = toComparable(answer);
    const { detail, requestId, errors, instance: _instance, ...rest } = JSON.parse(answer.text) as Problem;
    const form = [typeof detail, typeof requestId, errors?.map((each) => Object.keys(each))];
    return { status, headers, rest, form };
  }
  async function expectSame(code: AnswerCode, real: Answer): Promise<void> {
    expect((real.json as Problem).code).toBe(code);
    fake.fail(code);
    expect(toForm(await askFake(ACCOUNTS))).toEqual(toForm(real));
  }

  it.each<[AnswerCode, { path?: string; headers?: Headers_; method?: string }]>([
    ['invalid-request', { path: `${ACCOUNTS}?pageSize=0` }],
    ['not-found', { path: '/api/v1/none' }],
    ['account-not-found', { path: `${ACCOUNTS}/none` }],
    ['method-not-allowed', { method: 'POST' }],
    ['not-acceptable', { headers: { accept: 'image/png' } }],
    ['client-not-allowed', { headers: { origin: 'https://other.example' } }],
    ['host-not-allowed', { headers: { host: 'other.example' } }],
  ])('%s', async (code, { path = ACCOUNTS, headers, method }) =>
    expectSame(code, await get(url + path, headers, method)),
  );

  it('malformed-request', async () => {
    const { answers } = await sendRaw(
      Number(new URL(url).port),
      `GET ${ACCOUNTS} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
    );
    await expectSame('malformed-request', answers[0] as Answer);
  });

  it('request-too-large', async () => {
    // a client that sends the body too may be reset before it reads the response
    const head = rawRequest('PATCH /sandbox/control HTTP/1.1', [
      'Content-Type: application/json',
      'Content-Length: 2000000',
    ]);
    await expectSame('request-too-large', await rawCall(Number(new URL(url).port), head));
  });

  describe('of the bank', () => {
    afterEach(reset);
    const accounts = (fault: string): ControlPatch => ({
      failNext: [{ endpoint: 'accounts', times: ALL_CALLS, with: fault as '503' }],
    });
    it.each<[AnswerCode, ControlPatch]>([
      ['credentials-rejected', { failNext: [{ endpoint: 'authorize', times: ALL_CALLS, with: '401' }] }],
      ['address-not-allowed', { allowedIps: [] }],
      ['access-not-granted', { grantAccess: false }],
      ['bank-refused', accounts('401')],
      ['bank-response-invalid', accounts('malformed')],
      ['bank-unreachable', accounts('reset')],
      ['bank-error', accounts('500')],
      ['bank-timeout', accounts('hang')],
    ])('%s', async (code, change) => {
      await patch(change);
      // copy and token end
      advance(301_000);
      await expectSame(code, await get(url + ACCOUNTS));
    });

    it('bank-rate-limited, once the bank has asked to wait for as long as a refresh may take', async () => {
      await patch(accounts('429'));
      advance(301_000);
      let isOver = false;
      const answer = get(url + ACCOUNTS).finally(() => (isOver = true));
      await until(() => {
        if (!isOver) advance(2000);
        return isOver;
      });
      await expectSame('bank-rate-limited', await answer);
    });
  });

  it.each<[AnswerCode, () => Promise<Record<string, string>> | Record<string, string>]>([
    [
      'certificate-rejected',
      async () => ({
        BANK_PFX_FILE: join(await otherIdentity, 'client.pfx'),
        BANK_PFX_PASSCODE_FILE: join(await otherIdentity, 'passcode'),
      }),
    ],
    ['certificate-unusable', () => ({ MOVED_TIME: toClockFile(400 * 86_400_000) })],
    ['bank-untrusted', async () => ({ BANK_CA_FILE: join(await otherIdentity, 'ca.pem') })],
    ['proxy-refused', async () => ({ EGRESS_PROXY_URL: (await startConnectProxy({ onConnect: reject })).url.href })],
    ['proxy-unavailable', async () => ({ EGRESS_PROXY_URL: `http://127.0.0.1:${await closedPort()}` })],
  ])('%s', async (code, toSettings) => {
    const env = programEnvironment(await start(), { MOVED_TIME: toClockFile(0), ...(await toSettings()) });
    const other = await startProgram({ env, cwd: temporaryDirectory(), nodeFlags: CLOCK });
    await expectSame(code, await get(`${await other.started()}${ACCOUNTS}`));
  });
  const otherIdentity = directoryWithOtherIdentity();
  const reject = ({ socket }: Connect) => socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');

  it('every code has the status, owner and title of /problems, and there are no others', async () => {
    const { json } = await get(`${url}/problems`, { accept: 'application/json' });
    for (const { code, status, owner, title } of json as Problem[]) {
      if (status === null) expect(() => fake.fail(code as AnswerCode)).toThrow(TypeError);
      else {
        fake.fail(code as AnswerCode);
        const faked = await askFake('/api/v1/balances');
        expect(JSON.parse(faked.text)).toMatchObject({ code, status, owner, title });
        expect([faked.status, 'retry-after' in faked.headers]).toEqual([status, status >= 502]);
      }
    }
  });
});
