import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DOCUMENT_SCHEMAS } from '../../src/list/document-schemas.js';
import type { Account } from '../../src/list/account.js';
import { NOW } from '../../src/cache/freshness.js';
import type { ServedSnapshot } from '../../src/cache/snapshot-service.js';
import type { RefreshRequest } from '../../src/snapshot/snapshot-source.js';
import { AuthorizedCall } from '../../src/auth/authorized-call.js';
import { AccountReader } from '../../src/bank/account-reader.js';
import type { Settings } from '../../src/config/settings.js';
import { GatewayError } from '../../src/errors/gateway-error.js';
import { bankBody, damaged, MARK } from '../support/bank-answers.js';
import { repair } from '../support/bank-for-file.js';
import { askInTime, expectCommonConditions } from '../support/common-conditions.js';
import { FakeClock } from '../support/fake-clock.js';
import { LONGEST_WAIT_MS } from '../support/fault-case.js';
import { startGateway, type Answer } from '../support/gateway.js';
import { keepLines } from '../support/log-lines.js';
import { MovedClock } from '../support/moved-clock.js';
import { startPretendBank } from '../support/pretend-bank.js';
import { PLANTED } from '../support/sample-accounts.js';
import { LocalList, snapshotOf } from '../support/sample-snapshots.js';
import { createSnapshotService } from '../support/snapshot-service.js';

/**
 * A new seed for each run, printed in the name of each test; FUZZ_SEED repeats one. FULL=1 tries a hundred times as
 * many cases.
 */
const SEED = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2_147_483_647);
const TIMES = process.env['FULL'] ? 100 : 1;
const EACH_WITHIN_MS = 30_000;

const OURS = new Set([
  'bank-response-invalid',
  'bank-refused',
  'access-not-granted',
  'bank-rate-limited',
  'bank-unreachable',
  'bank-error',
]);
const NOT_NAMED = [MARK, PLANTED.iban, PLANTED.beginOfDay, PLANTED.intraDay, PLANTED.current];

const prototypes = [Object.prototype, Array.prototype, String.prototype, Function.prototype];
const shapes = () => prototypes.map((each) => Reflect.ownKeys(each).map(String));
const before = shapes();

interface Sent {
  readonly status: number;
  readonly body: Buffer;
}

/** Processes a page with the real code, from bytes to snapshot, without a network. */
async function read(pages: readonly Sent[], pastEnd: 'empty' | 'last' | 'not-found') {
  const asked: Sent[] = [];
  const last = pages.at(-1) as Sent;
  const pastThe = {
    empty: { status: 200, body: Buffer.from('{"result":[]}') },
    last,
    'not-found': { status: 404, body: Buffer.alloc(0) },
  };
  const call = {
    get: async ({ query, judge = () => null }) => {
      const sent = pages[Number(query['PageNumber']) - 1] ?? pastThe[pastEnd];
      asked.push(sent);
      // a separate buffer, as from the network, because it is transferred to the thread
      const answer = { ...sent, body: Buffer.from(sent.body), headers: {} };
      return { ...answer, error: judge(answer) };
    },
  } as AuthorizedCall;
  const clock = new FakeClock();
  const { log, written } = keepLines();
  const reader = new AccountReader(
    call,
    { BANK_PAGE_SIZE: 6, BANK_MAX_CONCURRENT_REQUESTS: 3, SNAPSHOT_READ_TIMEOUT_MS: 0 } as Settings,
    log,
  );
  // without a thread, which would take longer to start than the list takes
  const list = new LocalList();
  const readList = async ({ refreshId, signal }: RefreshRequest) => {
    const { complete, pages: count } = await reader.read(refreshId, signal, (number, body) =>
      list.takePage(number, body),
    );
    const { accounts: size } = await list.finish();
    const snapshot = { ...snapshotOf([], complete, clock.now()), list, size };
    return { snapshot, pages: count };
  };
  const { snapshots } = createSnapshotService({
    read: readList,
    clock,
    log,
    settings: { SNAPSHOT_FRESH_MS: 0, SNAPSHOT_MAX_AGE_MS: 0, REQUEST_DEADLINE_MS: EACH_WITHIN_MS },
  });
  const outcome = await Promise.resolve(snapshots.get(NOW)).catch((error: unknown) => error);
  return { outcome: outcome as ServedSnapshot | Error, asked, written: written.join('') };
}

/**
 * The bank's counts in these responses, found in a different way than the gateway does. Pages past the end are omitted.
 */
function countsIn(asked: readonly Sent[]): Set<number> {
  const counts = new Set<number>();
  for (const [index, { body }] of asked.filter(({ status }) => status === 200).entries()) {
    const text = body.toString('utf8').replace(/^\ufeff/, '');
    const asWritten = (_key: string, value: unknown, { source }: { source?: string }) =>
      typeof value === 'number' ? source : value;
    const json = JSON.parse(text, asWritten as (key: string, value: unknown) => unknown) as Record<string, unknown>;
    const lists = Object.hasOwn(json, 'result') ? [json['result']] : Object.values(json);
    const isRow = (each: unknown) => typeof each === 'object' && each !== null && !Array.isArray(each);
    if (index > 0 && !lists.some((each) => Array.isArray(each) && each.length > 0 && each.every(isRow))) continue;
    const info = json['pageInfo'];
    const from = typeof info === 'object' && info !== null && !Array.isArray(info) ? (info as typeof json) : json;
    const count = from['rowCount'];
    if (Array.isArray(json) || !/^\d{1,9}$/.test(String(count)) || typeof count === 'object') continue;
    counts.add(Number(count));
  }
  return counts;
}

const page = fc.record<Sent>({
  status: fc.constantFrom(...Array<number>(30).fill(200), 206, 204, 304, 400, 403, 404, 413, 429, 500),
  body: bankBody,
});

describe(`whatever the bank sends (FUZZ_SEED=${SEED})`, () => {
  it(`${400 * TIMES} lists in memory are accepted, or rejected with a code`, async () => {
    const seen = { read: 0, complete: 0, rejected: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(page, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('empty', 'last', 'not-found'),
        async (pages, pastEnd) => {
          const { outcome, asked, written } = await read(pages, pastEnd);
          expect(shapes()).toEqual(before);
          for (const value of NOT_NAMED) expect(written).not.toContain(value);
          if (outcome instanceof Error) {
            expect(outcome).toBeInstanceOf(GatewayError);
            const { code, detail } = outcome as GatewayError;
            expect(OURS).toContain(code);
            for (const value of NOT_NAMED) expect(detail).not.toContain(value);
            seen.rejected += 1;
            return;
          }
          const { complete } = outcome.snapshot;
          const bytes = await outcome.snapshot.list.toJson(Infinity);
          const accounts = JSON.parse(Buffer.from(bytes ?? []).toString()) as Account[];
          DOCUMENT_SCHEMAS.accounts.shape.accounts.parse(accounts);
          expect(new Set(accounts.map(({ id }) => id)).size).toBe(accounts.length);
          if (complete === true) expect([...countsIn(asked)]).toEqual([accounts.length]);
          if (complete === null) expect([...countsIn(asked)]).toEqual([]);
          seen.read += 1;
          if (complete === true) seen.complete += 1;
        },
      ),
      { seed: SEED, numRuns: 400 * TIMES, timeout: EACH_WITHIN_MS },
    );
    // a fuzz test with a single outcome would test nothing
    expect(Math.min(seen.read, seen.rejected)).toBeGreaterThan(50);
    if (TIMES > 1) expect(seen.complete).toBeGreaterThan(10);
  }, 600_000);

  it(`${20 * TIMES} lists over real TLS, a quarter of them with a broken HTTP response, are accepted or rejected with a code`, async () => {
    const bank = await startPretendBank();
    const clock = new MovedClock();
    const gateway = await startGateway(bank, { LOG_LEVEL: 'info' }, clock);
    const http = bankBody.map((body) =>
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`),
        body,
      ]),
    );
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
          const answer = query.includes('format')
            ? await gateway.get(path, { 'cache-control': 'no-cache' })
            : await askInTime(gateway, path, { 'cache-control': 'no-cache' });
          if (answer.status !== 200) {
            expect(OURS).toContain(answer.json.code);
            for (const value of NOT_NAMED) expect(answer.text).not.toContain(value);
          }
          answers.push(answer);
        },
      ),
      { seed: SEED, numRuns: 20 * TIMES, timeout: EACH_WITHIN_MS },
    );
    expect(shapes()).toEqual(before);
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
  }, 900_000);
});
