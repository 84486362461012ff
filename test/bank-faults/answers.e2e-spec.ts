import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { bankForFile } from '../support/bank-for-file.js';
import { body, invalid, raw, rejected, status, timeout } from '../support/fault-answers.js';
import { faultsOf, type FaultCase } from '../support/fault-case.js';
import { issueToken, type Handler } from '../support/pretend-bank.js';
import { PLANTED, sampleAccount } from '../support/sample-accounts.js';
import { startRawServer } from '../support/servers.js';

// Every status and document is tested next to the code: src/egress/answer-error.spec.ts,
// src/auth/request-token.spec.ts, src/list/bank-page.spec.ts and src/list/bank-account.spec.ts; retries in
// src/bank/account-reader.spec.ts. Here: calls to the bank, responses to callers, leaks.

const bank = await bankForFile();
const elsewhere = await startRawServer();
const faults = await faultsOf(bank);
const location = `http://127.0.0.1:${elsewhere.port}/`;

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const network = { code: 'bank-unreachable', status: 503, owner: 'network' } as const;
const credentials = { code: 'credentials-rejected', status: 502, owner: 'operator' } as const;

type Expected = Pick<FaultCase, 'code' | 'status' | 'owner'>;

/** Failures of both endpoints. */
const BOTH: [string, Handler, Expected][] = [
  ['a redirect', status(302, { location }), rejected],
  ['HTML with 200', body(`<html>${PLANTED.text}</html>`, { 'content-type': 'text/html' }), invalid],
  ['a body cut short of its Content-Length', raw(`${HEAD}Content-Length: 5000\r\n\r\n{"access_token":"abc"`), invalid],
  ['headers never', () => undefined, timeout],
];

describe('a failure of the token endpoint leads to its code', () => {
  /** A valid response with one field changed. */
  const field =
    (change: Record<string, unknown>): Handler =>
    (...args) =>
      issueToken(bank, change)(...args);

  it.each<[string, Handler, Expected]>([
    ...BOTH,
    ['401', status(401), credentials],
    ['access_token with CR and LF', field({ access_token: `${PLANTED.text}\r\nX-Injected: 1` }), invalid],
  ])('%s', async (_name, onToken, expected) => {
    const { tokenRequests, accountRequests } = await faults.run({ onToken, ...expected });
    // the gateway only ever sends valid tokens
    expect([tokenRequests, accountRequests]).toEqual([1, 0]);
  });
});

describe('a failure of the account list leads to its code', () => {
  const PAGE = JSON.stringify({
    result: [sampleAccount(1, { accountDescription: PLANTED.text })],
    pageInfo: { rowCount: 1 },
  });

  /** A page of one account with one field changed. `digits` are put into the JSON unchanged. */
  const withField = (name: string, digits: string): Handler =>
    body(PAGE.replace(new RegExp(`"${name}":("[^"]*"|\\[[^\\]]*\\]|[^,}]+)`), `"${name}":${digits}`));

  /** name, handler, expected problem, calls for the list */
  type Case = [string, Handler, Expected, number?];

  it.each<Case>([
    ...BOTH,
    ['401 always', status(401), rejected, 2],
    ['ibans a text', withField('ibans', `"${PLANTED.iban}"`), invalid],
    ['an amount that is not a number', withField('beginOfDayAmount', `"${PLANTED.text}"`), invalid],
    // two attempts, each over two fresh connections, the first after a kept one
    ['closed before an answer', ({ socket }) => void socket.destroy(), network, 5],
    ['reset before an answer', ({ socket }) => resetUnder(socket as TLSSocket), network, 5],
    [
      'reset within the body',
      ({ socket }) => {
        socket.write(`${HEAD}Content-Length: 5000\r\n\r\n${PAGE}`);
        // a reset overtakes data in transit, so wait until the beginning has arrived
        onceResponseArrives(() => resetUnder(socket as TLSSocket));
      },
      network,
      2,
    ],
  ])('%s', async (name, onAccounts, expected, times = 1) => {
    const { tokenRequests, accountRequests } = await faults.run({ onAccounts, ...expected });
    // a 401 leads to one more token request
    expect([tokenRequests, accountRequests]).toEqual([name.startsWith('401 always') ? 2 : 1, times]);
  });

  /** Calls `act` once the head of the next response has reached the gateway, which is in this process. */
  function onceResponseArrives(act: () => void): void {
    const onHead = () => {
      unsubscribe('http.client.response.finish', onHead);
      act();
    };
    subscribe('http.client.response.finish', onHead);
  }

  /** Sends a TCP reset. A TLSSocket cannot do so, but the socket below it can. */
  function resetUnder(socket: TLSSocket): void {
    const under = [...bank.sockets].find(({ remotePort }) => remotePort === socket.remotePort);
    under?.resetAndDestroy();
    socket.destroy();
  }
});

it('the target of a redirect receives no connection', () => expect(elsewhere.accepted).toBe(0));

it('the failures leave no connection, file or secret behind', () => faults.end());
