import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { body, invalid, raw, refused, status, timeout, unavailable } from '../support/fault-answers.js';
import { faultsOf, type FaultCase } from '../support/fault-case.js';
import { issueToken, type Handler } from '../support/pretend-bank.js';
import { PLANTED } from '../support/sample-accounts.js';
import { startRawServer } from '../support/servers.js';

const bank = await bankForFile();
const elsewhere = await startRawServer();
const faults = await faultsOf(bank);
const location = `http://127.0.0.1:${elsewhere.port}/`;

/** A good answer but for one field. */
const field =
  (change: Record<string, unknown>): Handler =>
  (...args) =>
    issueToken(bank, change)(...args);

const credentials = { code: 'credentials-rejected', status: 502, owner: 'operator' } as const;
const limited = { code: 'bank-rate-limited', status: 503, owner: 'bank' } as const;

const CASES: [string, Handler, Pick<FaultCase, 'code' | 'status' | 'owner'>][] = [
  ['400', status(400), credentials],
  ['401', status(401), credentials],
  ['403', status(403), { code: 'address-not-allowed', status: 502, owner: 'operator' }],
  ['404', status(404), refused],
  ['405', status(405), refused],
  ['412', status(412), refused],
  ['415', status(415), refused],
  ['429', status(429), limited],
  ['500', status(500), unavailable],
  ['501', status(501), unavailable],
  ['502', status(502), unavailable],
  ['503', status(503), unavailable],
  ['504', status(504), unavailable],
  ['201', status(201), invalid],
  ['204', status(204), invalid],
  ['206', status(206), invalid],
  ['304', status(304), invalid],
  ['a redirect to another host', status(302, { location }), refused],
  ['a redirect that keeps the method', status(307, { location }), refused],
  ['a permanent redirect', status(308, { location }), refused],
  ['an empty body', body(''), invalid],
  ['HTML', body(`<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' }), invalid],
  ['HTML said to be JSON', body(`<html>${PLANTED.text}</html>`), invalid],
  ['broken JSON', body(`{"access_token":"${PLANTED.text}",`), invalid],
  ['an array', body('[]'), invalid],
  ['null', body('null'), invalid],
  ['a text', body(`"${PLANTED.text}"`), invalid],
  ['bad UTF-8', body(Buffer.from('7b22e9223a317d', 'hex')), invalid],
  ['no access_token', field({ access_token: undefined }), invalid],
  ['access_token null', field({ access_token: null }), invalid],
  ['access_token ""', field({ access_token: '' }), invalid],
  ['access_token a number', field({ access_token: 12_345_678 }), invalid],
  ['access_token of 1 MB', field({ access_token: 'a'.repeat(1_048_576) }), invalid],
  ['access_token with CR and LF', field({ access_token: `${PLANTED.text}\r\nX-Injected: 1` }), invalid],
  ['access_token with a space', field({ access_token: `${PLANTED.text} two` }), invalid],
  ['access_token beyond ASCII', field({ access_token: `${PLANTED.text}é` }), invalid],
  ['token_type MAC', field({ token_type: 'MAC' }), invalid],
  [
    'a body cut short of its Content-Length',
    raw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"access_token":"abc"'),
    invalid,
  ],
  [
    'a body in chunks without the last',
    raw('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"acc\r\n'),
    invalid,
  ],
  ['no HTTP at all', raw('220 smtp.example ESMTP\r\n'), invalid],
  ['two lengths that differ', raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}a'), invalid],
  ['a header that never comes', () => undefined, timeout],
  [
    'a body that never ends',
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{');
    },
    timeout,
  ],
];

describe('the token endpoint at fault is reported by code', () => {
  it.each(CASES)('%s', async (_name, onToken, expected) => {
    const { tokenRequests, accountRequests } = await faults.run({ onToken, ...expected });
    expect(tokenRequests).toBe(1);
    // nothing that is no token is ever sent
    expect(accountRequests).toBe(0);
  });

  it('an answer larger than BANK_MAX_RESPONSE_BYTES', async () => {
    const { tokenRequests } = await faults.run({
      onToken: field({ more: 'x'.repeat(100_000) }),
      env: { BANK_MAX_RESPONSE_BYTES: '65536' },
      ...invalid,
    });
    expect(tokenRequests).toBe(1);
  });

  it('names the allowlist as another cause of a 401', async () => {
    const { answer } = await faults.run({ onToken: status(401), ...credentials });
    expect(answer.json.detail).toMatch(/allowlist/);
  });

  it('another host that a redirect names sees nothing', () => expect(elsewhere.accepted).toBe(0));

  it('leaves no connection, file or secret behind', () => faults.end());
});
