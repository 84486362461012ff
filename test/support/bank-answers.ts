import fc from 'fast-check';
import { PLANTED, sampleAccount } from './sample-accounts.js';

/**
 * Part of every text value that is made here: found anywhere but in an account, it shows that a value of the bank leaks. It is
 * not a word, because words of a new status are reported (docs/bank.md#drift).
 */
export const MARK = 'ZQ7X';

/** What a bank might send where one value belongs, as JSON text. */
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

const FIELDS = [...Object.keys(sampleAccount(1)), 'unknownField'];
const INNER =
  'account financialInstitution country type currency beginOfDayAmount intraDayAmount blockedBalanceAmount'.split(' ');
const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'prototype', 'hasOwnProperty', '', '0', 'length'];

const name = fc.constantFrom(...FIELDS, ...INNER, ...ODD_NAMES);
const object = (entry: fc.Arbitrary<string>, max = 8) =>
  fc
    .array(fc.tuple(name, entry), { maxLength: max })
    .map((entries) => `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${each}`).join(',')}}`);
const list = (entry: fc.Arbitrary<string>, max = 4) =>
  fc.array(entry, { maxLength: max }).map((all) => `[${all.join(',')}]`);

/** An account, good but for some fields; ids come from few, so that some come twice. */
const account = fc
  .tuple(
    fc.integer({ min: 1, max: 60 }),
    fc.array(fc.tuple(name, fc.oneof(value, list(object(value)))), { maxLength: 3 }),
    fc.boolean(),
  )
  .map(([id, changes, whole]) => {
    const good = whole ? sampleAccount(id, { accountDescription: `${MARK} ${id}` }) : { accountId: `${MARK}-${id}` };
    // changed fields come later, so that they win, under names that are there twice then
    const changed = changes.map(([key, each]) => `,${JSON.stringify(key)}:${each}`);
    return `${JSON.stringify(good).slice(0, -1)}${changed.join('')}}`;
  });

const plainAccount = fc
  .integer({ min: 1, max: 60 })
  .map((id) => JSON.stringify(sampleAccount(id, { accountDescription: `${MARK} ${id}` })));

const count = fc.constantFrom(...'0 1 2 3 5 6 "3" "6" -1 1.5 null "" "abc" 1e3 999999999 12345678901'.split(' '));
const info = fc
  .tuple(fc.option(count), fc.option(count))
  .map(
    ([rows, size]) =>
      `{"currentPage":1${rows === null ? '' : `,"rowCount":${rows}`}${size === null ? '' : `,"pageSize":${size}`}}`,
  );

const envelope = (rows: fc.Arbitrary<string>) =>
  fc
    .tuple(
      rows,
      fc.constantFrom('result', 'result', 'result', 'accounts', 'data', '__proto__', `K${PLANTED.beginOfDay}`, ''),
      fc.option(info),
      fc.option(fc.tuple(name, value)),
    )
    .map(([all, key, page, more]) => {
      const extra = more === null ? '' : `,${JSON.stringify(more[0])}:${more[1]}`;
      return `{${JSON.stringify(key)}:${all}${page === null ? '' : `,"pageInfo":${page}`}${extra}}`;
    });

const document = fc.oneof(
  { weight: 30, arbitrary: envelope(list(plainAccount, 6)) },
  { weight: 6, arbitrary: envelope(list(account, 6)) },
  { weight: 2, arbitrary: list(account, 6) },
  { weight: 2, arbitrary: envelope(value) },
  { weight: 1, arbitrary: value },
  { weight: 1, arbitrary: fc.json() },
);

/** Bytes that are lost, changed, added or repeated, as by a broken cable or a broken program. */
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

/** One time of so many; else null. */
const seldom = <T>(of: number, what: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: of - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: what });

/** A body of the account list as a bank gone wrong in any way might send it; often a good one. */
export const bankBody: fc.Arbitrary<Buffer> = fc
  .tuple(
    document,
    fc.constantFrom('', '', '', '\ufeff', ' \r\n', '\ufeff\ufeff'),
    seldom(4, damage),
    seldom(20, fc.double({ min: 0, max: 1, noNaN: true })),
  )
  .map(([text, before, hits, cutAt]) => {
    const whole = Buffer.from(before + text, 'utf8');
    const spoiled = hits === null ? whole : spoil(whole, hits);
    return cutAt === null ? spoiled : spoiled.subarray(0, Math.floor(cutAt * spoiled.length));
  });

/** The same for bytes of HTTP. */
export const damaged = (bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc.tuple(bytes, damage).map(([whole, hits]) => spoil(whole, hits));
