import fc from 'fast-check';
import { PLANTED, sampleAccount } from './sample-accounts.js';

/**
 * Part of the random texts. If it appears anywhere but in an account, one of the bank's values has leaked. It is not a
 * word, because unknown status words are reported (docs/bank.md#drift).
 */
export const MARK = 'ZQ7X';

/** What a bank might send as a value; not all of it is JSON. */
const value = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(`${MARK}${text}`)),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('null', 'true', 'false', '""', '{}', '[]', '[null]', '[[]]', '[{}]', '{"a":{}}'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...'0 -0 -0.0 1.10 1E400 1e-400 -1.5E+3 12345678901234567890.123 0.1 1e5 01 +1 .5 1. NaN undefined'.split(' '),
      ...['12.30', '1,5', 'NaN', 'Infinity', '0x10', '1e3', ' 1', MARK, '=1+1', '__proto__'].map((text) => `"${text}"`),
      '9'.repeat(399),
      '9'.repeat(401),
      "'x'",
      '"\\ud800"',
      '"\\u0000"',
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 2, max: 2000 }).map((deep) => '['.repeat(deep) + ']'.repeat(deep)) },
);

const NAMES = [
  ...Object.keys(sampleAccount(1)),
  ...'unknownField account financialInstitution country type beginOfDayAmount intraDayAmount'.split(' '),
  '__proto__',
  'constructor',
  'toString',
  '',
  '0',
];

type Entry = readonly [name: string, json: string];
const toObject = (entries: readonly Entry[]) =>
  `{${entries.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
const entriesOf = (json: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(fc.tuple(fc.constantFrom(...NAMES), json), { maxLength });
const listOf = (json: fc.Arbitrary<string>, maxLength: number) =>
  fc.array(json, { maxLength }).map((all) => `[${all.join(',')}]`);

/** The value in one of so many cases, else null. */
const seldom = <T>(of: number, what: fc.Arbitrary<T>) =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: what });

/** An account, sometimes with changed fields. Ids come from a small set, so that some repeat. */
const account = fc
  .tuple(
    fc.integer({ min: 1, max: 60 }),
    seldom(20, entriesOf(fc.oneof(value, listOf(entriesOf(value, 8).map(toObject), 4)), 3)),
  )
  .map(([id, changes]) => {
    const good = Object.entries(sampleAccount(id, { accountDescription: `${MARK} ${id}` }));
    // changed fields come last, so that they win over the first occurrence of their key
    return toObject([...good.map(([name, field]): Entry => [name, JSON.stringify(field)]), ...(changes ?? [])]);
  });

const count = fc.constantFrom(...'0 1 2 3 5 6 "3" "6" -1 1.5 null "" "abc" 1e3 999999999 12345678901'.split(' '));
const info = fc
  .array(fc.tuple(fc.constantFrom('rowCount', 'pageSize'), count), { minLength: 1, maxLength: 2 })
  .map(toObject);

const envelope = (rows: fc.Arbitrary<string>) =>
  fc
    .tuple(
      fc.constantFrom('result', 'result', 'result', 'accounts', 'data', '__proto__', `K${PLANTED.beginOfDay}`, ''),
      rows,
      fc.option(info),
      entriesOf(value, 1),
    )
    .map(([key, all, page, more]) =>
      toObject([[key, all], ...(page === null ? [] : [['pageInfo', page] as const]), ...more]),
    );

const document = fc.oneof(
  { weight: 36, arbitrary: envelope(listOf(account, 6)) },
  { weight: 2, arbitrary: listOf(account, 6) },
  { weight: 2, arbitrary: envelope(value) },
  { weight: 1, arbitrary: value },
  { weight: 1, arbitrary: fc.json() },
);

/** Drops, replaces or adds bytes at random. */
const damage = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    drop: fc.integer({ min: 0, max: 20 }),
    insert: fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.constantFrom('{', '}', '[', '"', '\\', ',', '\u0000', 'é')),
  }),
  { maxLength: 3 },
);

function spoil(bytes: Buffer, hits: readonly { at: number; drop: number; insert: Uint8Array | string }[]): Buffer {
  return hits.reduce((whole, { at, drop, insert }) => {
    const where = Math.floor(at * whole.length);
    return Buffer.concat([whole.subarray(0, where), Buffer.from(insert as string), whole.subarray(where + drop)]);
  }, bytes);
}

/** A body of the account list from a bank with any defect; often it is valid. */
export const bankBody: fc.Arbitrary<Buffer> = fc
  .tuple(document, fc.constantFrom('', '', '', '\ufeff', ' \r\n', '\ufeff\ufeff'), seldom(4, damage))
  .map(([text, before, hits]) => spoil(Buffer.from(before + text, 'utf8'), hits ?? []));

/** The bytes, often damaged. */
export const damaged = (bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc.tuple(bytes, damage).map(([whole, hits]) => spoil(whole, hits));
