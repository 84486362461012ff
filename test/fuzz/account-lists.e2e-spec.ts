import type { TLSSocket } from 'node:tls';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Account } from '../../src/list/account.js';
import { bankBody, damaged, MARK } from '../support/bank-answers.js';
import { repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { startGateway, type Answer } from '../support/gateway.js';
import { LONGEST_WAIT_MS, MovedClock } from '../support/moved-clock.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { PLANTED } from '../support/sample-accounts.js';

// Whether a list is complete is tested with a model of the bank in src/bank/account-reader.spec.ts.

/**
 * A new seed for each run, printed in the name of the test; FUZZ_SEED repeats one. FULL=1 tries a hundred times as many
 * lists.
 */
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2_147_483_647);
const LISTS = process.env['FULL'] ? 6000 : 60;

/** The codes of broken responses, some of which have another status. */
const CODES = [
  'bank-response-invalid',
  'bank-refused',
  'access-not-granted',
  'bank-rate-limited',
  'bank-unreachable',
  'bank-error',
];
const NOT_NAMED = [MARK, PLANTED.iban, PLANTED.beginOfDay, PLANTED.intraDay, PLANTED.current];

const prototypes = [Object.prototype, Array.prototype, String.prototype, Function.prototype];
const shapes = () => prototypes.map((each) => Reflect.ownKeys(each).map(String));
const before = shapes();

const http = bankBody.map((body) =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`),
    body,
  ]),
);

it(`${LISTS} random lists, some of them in a broken HTTP response, are accepted or rejected with a code (FUZZ_SEED=${SEED})`, async () => {
  const bank = await startPretendBank();
  const clock = new MovedClock();
  const gateway = await startGateway(bank, { LOG_LEVEL: 'info' }, clock);
  const answers: Answer[] = [await askInTime(gateway)];
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        bankBody,
        damaged(http).map((bytes) => ({ bytes })),
      ),
      fc.constantFrom('', '?format=ndjson', '?format=csv', '?sort=-current', '?q=a', '?pageSize=1000'),
      async (sent, query) => {
        bank.onAccounts = ({ socket }, response) => {
          if (Buffer.isBuffer(sent)) response.end(sent);
          else (socket as TLSSocket).end(sent.bytes);
        };
        clock.advance(LONGEST_WAIT_MS);
        const path = `/api/v1/accounts${query}`;
        const isDownload = query.includes('format');
        const ask = isDownload ? gateway.get : askInTime.bind(null, gateway);
        const answer = await ask(path, { 'cache-control': 'no-cache' });
        if (answer.status !== 200) {
          expect(CODES).toContain(answer.json.code);
          for (const value of NOT_NAMED) expect(answer.text).not.toContain(value);
        } else if (!isDownload) {
          const ids = (answer.json.accounts as Account[]).map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
        }
        answers.push(answer);
      },
    ),
    { seed: SEED, numRuns: LISTS, timeout: 30_000 },
  );
  expect(shapes()).toEqual(before);
  // a fuzz test with a single outcome would test nothing
  const statuses = new Set(answers.map(({ status }) => status));
  expect(statuses).toContain(200);
  expect(statuses).toContain(502);
  expect(gateway.lines.join('')).not.toContain(MARK);

  repair(bank);
  clock.advance(LONGEST_WAIT_MS);
  const last = await askInTime(gateway, '/api/v1/accounts', { 'cache-control': 'no-cache' });
  expect(last.json.page.total).toBe(3);
  // searching every response for every token would take longer than the calls, so only some are searched
  await expectCommonConditions(bank, gateway, [...answers.slice(-20), last]);
});
