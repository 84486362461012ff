import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { body, invalid, raw, refused, status, timeout, unavailable } from '../support/fault-answers.js';
import { faultsOf, type FaultCase } from '../support/fault-case.js';
import type { Handler } from '../support/pretend-bank.js';
import { PLANTED, sampleAccount } from '../support/sample-accounts.js';
import { startRawServer } from '../support/servers.js';

const bank = await bankForFile();
const elsewhere = await startRawServer();
const faults = await faultsOf(bank);
const location = `http://127.0.0.1:${elsewhere.port}/`;

const PAGE = JSON.stringify({
  result: [sampleAccount(1, { accountDescription: PLANTED.text })],
  pageInfo: { rowCount: 1 },
});

/** A page of one account with one field changed; `digits` stand in the JSON as they are. */
const withField = (name: string, digits: string): Handler =>
  body(PAGE.replace(new RegExp(`"${name}":("[^"]*"|\\[[^\\]]*\\]|[^,}]+)`), `"${name}":${digits}`));

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

const network = { code: 'bank-unreachable', status: 503, owner: 'network' } as const;

/** name, answer, what is expected, how often the list is asked for, settings */
type Case = [string, Handler, Pick<FaultCase, 'code' | 'status' | 'owner'>, number?, Record<string, string>?];

const STATUSES: Case[] = [
  ['400', status(400), refused],
  ['401 always', status(401), refused, 2],
  ['403', status(403), refused],
  ['404', status(404), { code: 'access-not-granted', status: 502, owner: 'bank' }],
  ['405', status(405), refused],
  ['406', status(406), refused],
  ['412', status(412), refused],
  ['415', status(415), refused],
  ['429', status(429), { code: 'bank-rate-limited', status: 503, owner: 'bank' }],
  ['500', status(500), unavailable],
  ['502', status(502), unavailable, 2],
  ['503', status(503), unavailable, 2],
  ['504', status(504), unavailable, 2],
  ['503 with Retry-After', status(503, { 'retry-after': '7' }), unavailable],
  ['201', status(201), invalid],
  ['204', status(204), invalid],
  ['206', status(206), invalid],
  ['304', status(304), invalid],
  ['a redirect to http', status(302, { location }), refused],
  ['a permanent redirect', status(308, { location }), refused],
];

const BODIES: Case[] = [
  ['an empty body', body(''), invalid],
  ['HTML with 200', body(`<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' }), invalid],
  ['HTML said to be JSON', body(`<html>${PLANTED.text}</html>`), invalid],
  ['JSON that breaks off', body(PAGE.slice(0, -20)), invalid],
  ['two documents', body(`${PAGE}${PAGE}`), invalid],
  ['null', body('null'), invalid],
  ['a number', body('42'), invalid],
  ['result: null', body('{"result":null,"pageInfo":{"rowCount":0}}'), invalid],
  ['result: {}', body('{"result":{},"pageInfo":{"rowCount":0}}'), invalid],
  ['result: ""', body('{"result":""}'), invalid],
  ['no array anywhere', body('{"pageInfo":{"rowCount":3}}'), invalid],
  ['an array of texts', body(`["${PLANTED.iban}"]`), invalid],
  ['an array with null', body('{"result":[null]}'), invalid],
  ['two arrays of objects', body('{"one":[{"accountId":"1"}],"two":[{"accountId":"2"}]}'), invalid],
  ['bad UTF-8', body(Buffer.concat([Buffer.from(PAGE.slice(0, 40)), Buffer.from([0xe9, 0x22])])), invalid],
  ['an unfinished number', body(PAGE.replace(/7654321\.98/, '7654321.')), invalid],
  ['a number with a leading zero', body(PAGE.replace(/7654321\.98/, '07654321.98')), invalid],
  ['nested 200 000 deep', body(`{"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}`), invalid],
  ['no accountId', withField('accountId', 'null'), invalid],
  ['accountId ""', withField('accountId', '""'), invalid],
  ['accountId an object', withField('accountId', '{}'), invalid],
  ['ibans a text', withField('ibans', `"${PLANTED.iban}"`), invalid],
  ['balances an object', body(PAGE.replace(/"balances":\[/, '"balances":{},"was":[')), invalid],
  ['a balance that is a text', body(PAGE.replace(/"balances":\[/, '"balances":["x",')), invalid],
  ['1E400', withField('beginOfDayAmount', '1E400'), invalid],
  ['1E-400', withField('intraDayAmount', '1E-400'), invalid],
  ['401 digits', withField('beginOfDayAmount', '1'.repeat(401)), invalid],
  ['an amount that is no number', withField('beginOfDayAmount', `"${PLANTED.text}"`), invalid],
  ['an amount "NaN"', withField('beginOfDayAmount', '"NaN"'), invalid],
  ['an amount true', withField('beginOfDayAmount', 'true'), invalid],
  ['an amount {}', withField('beginOfDayAmount', '{}'), invalid],
  ['a rate that is no number', withField('netInterestRate', '"3,25"'), invalid],
];

const WIRE: Case[] = [
  ['cut short of its Content-Length', raw(`${HEAD}Content-Length: 5000\r\n\r\n${PAGE}`), invalid],
  ['chunks without the last', raw(`${HEAD}Transfer-Encoding: chunked\r\n\r\n10\r\n${PAGE.slice(0, 16)}\r\n`), invalid],
  ['gzip cut in the middle', body(gzipSync(PAGE).subarray(0, 120), { 'content-encoding': 'gzip' }), invalid],
  ['gzip that is none', body(PAGE, { 'content-encoding': 'gzip' }), invalid],
  ['two lengths that differ', raw(`${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}a`), invalid],
  ['no HTTP at all', raw('220 smtp.example ESMTP\r\n'), invalid],
  [
    'larger than BANK_MAX_RESPONSE_BYTES',
    body(`{"result":[],"more":"${'x'.repeat(200_000)}"}`),
    invalid,
    1,
    { BANK_MAX_RESPONSE_BYTES: '100000' },
  ],
  [
    'a gzip bomb',
    body(gzipSync(Buffer.alloc(50_000_000, ' ')), { 'content-encoding': 'gzip' }),
    invalid,
    1,
    { BANK_MAX_RESPONSE_BYTES: '1000000' },
  ],
  [
    '10 GB announced and sent as long as it is read',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '10000000000' });
      const chunk = Buffer.alloc(65_536, ' ');
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    },
    invalid,
    1,
    { BANK_MAX_RESPONSE_BYTES: '1000000', BANK_REQUEST_TIMEOUT_MS: '5000', REQUEST_DEADLINE_MS: '6000' },
  ],
  [
    'one byte each 100 ms',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 100);
      response.on('close', () => clearInterval(timer));
    },
    timeout,
  ],
  ['headers never', () => undefined, timeout],
  // at once on a fresh socket, since the first was a reused one, and once more after a moment
  ['closed before an answer', ({ socket }) => void socket.destroy(), network, 3],
  ['reset before an answer', ({ socket }) => resetUnder(socket as TLSSocket), network, 3],
  [
    'reset within the body',
    ({ socket }) => {
      socket.write(`${HEAD}Content-Length: 5000\r\n\r\n${PAGE}`);
      // a reset overtakes what is on its way: give the beginning time to arrive
      setTimeout(() => resetUnder(socket as TLSSocket), 150);
    },
    network,
    2,
  ],
];

/** A TCP reset: a TLSSocket itself cannot send one, the socket under it can. */
function resetUnder(socket: TLSSocket): void {
  const under = [...bank.sockets].find(({ remotePort }) => remotePort === socket.remotePort);
  under?.resetAndDestroy();
  socket.destroy();
}

describe('the account list at fault is reported by code', () => {
  const check = async (...[, onAccounts, expected, times = 1, env]: Case) => {
    const { tokenRequests, accountRequests } = await faults.run({ onAccounts, ...(env && { env }), ...expected });
    expect({ tokenRequests, accountRequests }).toEqual({
      // a 401 asks for another token, once
      tokenRequests: expected === refused && times === 2 ? 2 : 1,
      accountRequests: times,
    });
  };

  describe('by status', () => void it.each(STATUSES)('%s', check));
  describe('by what is in the body', () => void it.each(BODIES)('%s', check));
  describe('by what happens on the wire', () => void it.each(WIRE)('%s', check));

  it('413 at every size: smaller and smaller pages, then bank-refused', async () => {
    const { accountRequests } = await faults.run({
      onAccounts: status(413),
      env: { BANK_PAGE_SIZE: '100' },
      ...refused,
    });
    const sizes = bank.requests.flatMap(({ path }) => /PageSize=(\d+)/.exec(path)?.[1] ?? []).slice(0, accountRequests);
    expect(sizes).toEqual(['100', '50', '25', '12', '6', '3', '1']);
  });

  it.each([
    ['result[0].accountId', body('{"result":[{"accountId":null}]}')],
    [
      'result[1].balances[0].beginOfDayAmount',
      body(`{"result":[{"accountId":"1"},{"accountId":"2","balances":[{"beginOfDayAmount":"${PLANTED.text}"}]}]}`),
    ],
    ['items[0].accountIdentifiers[1]', body('{"items":[{"accountId":"1","accountIdentifiers":[{},7]}]}')],
    ['result', body('{"result":null}')],
  ])('names the place %s', async (place, onAccounts) => {
    const { answer } = await faults.run({ onAccounts, ...invalid });
    expect(answer.json.detail).toContain(`${place} `);
  });

  it('404 names a wrong path in BANK_BASE_URL as the other cause', async () => {
    const { answer } = await faults.run({
      onAccounts: status(404),
      code: 'access-not-granted',
      status: 502,
      owner: 'bank',
    });
    expect(answer.json.detail).toContain('BANK_BASE_URL');
  });

  it('another host that a redirect names sees nothing', () => expect(elsewhere.accepted).toBe(0));

  it('leaves no connection, file or secret behind', () => faults.end());
});
