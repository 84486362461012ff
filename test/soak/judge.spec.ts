import { describe, expect, it } from '@jest/globals';
import { PLANTED, sampleId } from '../support/sample-accounts.js';
import { judge, type Call } from './judge.js';
import { nameOf, type Version } from './soak-bank.js';

const LIMITS = { freshMs: 300, maxAgeMs: 3000, deadlineMs: 2500 };
const T = Date.UTC(2026, 10, 21, 8);
const VERSIONS: Version[] = [
  { number: 0, firstAskedAt: T + 10, lastServedAt: T + 20 },
  { number: 1, firstAskedAt: T + 5010, lastServedAt: T + 5020 },
];

const account = (change: object = {}) => ({
  id: sampleId(7),
  name: nameOf(7, 1),
  iban: PLANTED.iban,
  balances: [{ beginOfDay: PLANTED.beginOfDay, intraDay: PLANTED.intraDay, current: PLANTED.current }],
  ...change,
});
/** A good call, 100 ms after the second refresh, but for what is said. */
function call(change: Partial<Call> = {}, body: object = {}, snapshot: object = {}): Call {
  const info = { asOf: new Date(T + 5005).toISOString(), stale: false, complete: true, ...snapshot };
  return {
    path: '/api/v1/accounts',
    cacheControl: null,
    sentAt: T + 5100,
    receivedAt: T + 5120,
    status: 200,
    headers: { 'x-request-id': 'id-1' },
    text: JSON.stringify({ account: account(), snapshot: info, ...body }),
    ...change,
  };
}
const found = (each: Call) => judge(each, VERSIONS, LIMITS, 0);

describe('the judge of the soak', () => {
  it('finds nothing in what is right', () => {
    expect(found(call())).toBeNull();
    expect(found(call({ sentAt: T + 6000, receivedAt: T + 6100 }, {}, { stale: true }))).toBeNull();
  });

  it.each<[string, RegExp, Call]>([
    ['late', /^answered after/, call({ receivedAt: T + 8200 })],
    ['of two refreshes', /2 refreshes/, call({}, { accounts: [account(), account({ name: nameOf(7, 0) })] })],
    ['with other values', /other values/, call({}, { account: account({ iban: null }) })],
    ['short, and said to be complete', /119 accounts/, call({}, { page: { total: 119 } })],
    ['with the time of the refresh before', /asOf/, call({}, {}, { asOf: new Date(T).toISOString() })],
    ['too old', /ms old$/, call({ sentAt: T + 9000, receivedAt: T + 9100 }, {}, { stale: true })],
    ['stale and not marked', /not marked stale/, call({ sentAt: T + 6000, receivedAt: T + 6001 })],
    [
      'stale for no-cache',
      /for no-cache/,
      call({ sentAt: T + 6000, receivedAt: T + 6001, cacheControl: 'no-cache' }, {}, { stale: true }),
    ],
    ['no problem document', /without a problem/, call({ status: 503, text: '{}' })],
  ])('finds an answer %s', (_name, expected, each) => {
    expect(found(each)).toMatch(expected);
  });
});
