import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { quoteNumbers, readRows } from './bank-page.js';

const read = (value: unknown, pageNumber = 1) =>
  readRows(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), pageNumber);

/** The error message for a rejected page. */
async function detailOf(value: unknown, pageNumber = 1): Promise<string> {
  const { code, detail } = await rejectionOf(() => read(value, pageNumber));
  expect(code).toBe('bank-response-invalid');
  return detail;
}

const A = { accountId: 'a' };
const B = { accountId: 'b' };

describe('the rows of a page', () => {
  it('are in result', () => {
    expect(read({ result: [A, B], pageInfo: { currentPage: 1, pageSize: 50, rowCount: 120 } })).toEqual({
      rows: [A, B],
      path: 'result',
      rowCount: 120,
      echoedSize: 50,
    });
  });

  it.each([
    ['result', { warnings: [B], result: [A] }, 'result', [A]],
    ['the only array of objects', { accounts: [A], total: 1, tags: ['x', 'y'], links: {} }, 'accounts', [A]],
    ['the only filled one of several arrays', { errors: [], accounts: [A] }, 'accounts', [A]],
    ['the only array, though it is empty', { accounts: [] }, 'accounts', []],
  ])('are in %s', (_name, page, path, rows) => {
    expect(read(page)).toMatchObject({ path, rows });
  });

  it('are the document when it is an array', () => {
    expect(read([A, B])).toEqual({ rows: [A, B], path: '', rowCount: null, echoedSize: null });
  });

  it('are not read from a prototype', async () => {
    expect(await detailOf('{"__proto__":{"result":[{"accountId":"a"}]}}')).toContain('no array of accounts');
  });

  it.each([2, 7])('are empty when result is null on page %i', (pageNumber) => {
    expect(read({ result: null }, pageNumber)).toMatchObject({ rows: [] });
  });
});

describe('the bytes of a page', () => {
  it('are accepted as UTF-8, with or without a byte order mark', () => {
    const text = '{"result":[{"accountId":"Zürich €😀","amount":1.10}]}';
    const rows = [{ accountId: 'Zürich €😀', amount: '1.10' }];
    expect(readRows(Buffer.from(text), 1).rows).toEqual(rows);
    expect(readRows(Buffer.from(`\ufeff${text}`), 1).rows).toEqual(rows);
  });

  it('are rejected if they are not UTF-8', async () => {
    const { code, detail } = await rejectionOf(() => readRows(Buffer.from('{"result":["\xff"]}', 'latin1'), 1));
    expect([code, detail]).toEqual(['bank-response-invalid', 'The account list is not JSON.']);
  });
});

describe('a page that cannot be used', () => {
  it.each([
    ['nothing', '', 'is not JSON'],
    ['HTML', '<html>hunter2</html>', 'is not JSON'],
    ['cut JSON', '{"result":[{"accountId":"hunter2"', 'is not JSON'],
    ['a text', '"hunter2"', 'neither an object nor an array'],
    ['null', 'null', 'neither an object nor an array'],
    ['a number', '42', 'neither an object nor an array'],
    ['an empty object', '{}', 'no array of accounts is found'],
    ['two arrays that could be it', { a: [A], b: [B] }, 'more than one other array'],
    ['two empty arrays', { a: [], b: [] }, 'more than one other array'],
    ['result null on the first page', { result: null }, 'result is null'],
    ['result an object', { result: { hunter2: 1 } }, 'result is not an array'],
    ['result a text', { result: 'hunter2' }, 'result is not an array'],
    ['a text among the rows', { result: [A, 'hunter2'] }, 'result[1] is not an object'],
    ['null among the rows', { result: [null] }, 'result[0] is not an object'],
    ['an array among the rows', [A, B, ['hunter2']], '[2] is not an object'],
    ['very deep nesting', '['.repeat(200_000) + ']'.repeat(200_000), '[0] is not an object'],
  ])('%s is rejected with its path, not its value', async (_name, value, problem) => {
    const detail = await detailOf(value);
    expect(detail).toContain(problem);
    expect(detail).not.toMatch(/hunter2|42/);
  });

  it('an object as result is rejected on later pages too', async () => {
    expect(await detailOf({ result: {} }, 2)).toContain('result is not an array');
  });
});

describe('the counts of a page', () => {
  it.each([
    ['120', '50', 120, 50],
    ['"120"', '"50"', 120, 50],
    ['0', '0', 0, null],
    ...'null,-1,1.5,1e12,"many",true,[]'.split(',').map((other) => [other, other, null, null] as const),
  ])('rowCount %s and pageSize %s are %p and %p', (rowCount, pageSize, count, size) => {
    const page = read(`{"result":[],"pageInfo":{"rowCount":${rowCount},"pageSize":${pageSize}}}`);
    expect([page.rowCount, page.echoedSize]).toEqual([count, size]);
  });

  it('may be next to the rows', () => {
    expect(read({ accounts: [A], rowCount: 7, pageSize: 5 })).toMatchObject({ rowCount: 7, echoedSize: 5 });
  });

  it.each([null, 'x', [1]])('are null if pageInfo is %j', (pageInfo) => {
    expect(read({ result: [A], pageInfo })).toMatchObject({ rowCount: null, echoedSize: null });
  });
});

describe('a page that would grow in memory', () => {
  it.each([
    ['objects', '{},'],
    ['nesting', '['],
  ])('is rejected before it is parsed if it is nothing but %s', async (_name, part) => {
    const text = `{"result":[${part.repeat(8_000_000)}`;
    expect(await detailOf(text)).toBe('The account list has too many JSON values for its length.');
  });

  it('the negative case: accepts a nesting of 200 000 in an unknown field', () => {
    expect(read(`{"result":[],"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`).rows).toEqual([]);
  });

  it('the negative case: accepts 100 000 minimal accounts', () => {
    expect(
      read({ result: Array.from({ length: 100_000 }, (_, index) => ({ accountId: `${index}` })) }).rows,
    ).toHaveLength(100_000);
  });
});

/** The runtime sometimes loses the source text if a key is repeated in an object. Such texts are not compared. */
class NoSource extends Error {}

type Reviver = (this: unknown, key: string, value: unknown) => unknown;

/** True for a number whose name cannot be a field: it may or may not be quoted. */
const isForeign = (key: string, value: unknown) => !/^\w+$/.test(key) && !Number.isNaN(Number(value ?? undefined));

/** The expected result, from the runtime itself: each named number as its source text. */
function sources(json: string): unknown {
  const revive = function (this: unknown, key: string, value: unknown, { source }: { source?: string }) {
    if (Array.isArray(this)) return value;
    if (isForeign(key, value)) return 'a number';
    if (typeof value !== 'number') return value;
    if (source === undefined) throw new NoSource();
    return source;
  };
  return JSON.parse(json, revive as Reviver);
}

const quoted = (json: string): unknown => JSON.parse(quoteNumbers(json));

/** The result, comparable with `sources`. */
function quotedOrForeign(json: string): unknown {
  const revive = function (this: unknown, key: string, value: unknown) {
    return !Array.isArray(this) && isForeign(key, value) ? 'a number' : value;
  };
  return JSON.parse(quoteNumbers(json), revive as Reviver);
}

/** The value, or a note that it was rejected. */
function outcome(parse: (json: string) => unknown, json: string): unknown {
  try {
    return { value: parse(json) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof NoSource) return error.constructor.name;
    throw error;
  }
}

const space = fc.stringMatching(/^[ \n\r\t]{0,2}$/);
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?([eE][+-]?\d{1,4})?$/);
const character = fc.oneof(
  fc.constantFrom(...String.raw`\" \\ \/ \b \n \u0022 \u005c \ud83d 😀 1 - { } ] , : a_1`.split(' ')),
  fc.string({ minLength: 1, maxLength: 3, unit: 'binary' }).map((text) => JSON.stringify(text).slice(1, -1)),
);
const string = fc.oneof(
  fc.array(character, { maxLength: 8 }).map((parts) => `"${parts.join('')}"`),
  fc.constantFrom('"amount"', '":5,"', '",a"', '":5}"', '"a"'),
);

/** JSON texts with everything in the grammar. */
const { json } = fc.letrec<{ json: string; item: string; member: string }>((tie) => ({
  item: fc.tuple(space, tie('json'), space).map((parts) => parts.join('')),
  member: fc.tuple(space, string, space, fc.constant(':'), tie('item')).map((parts) => parts.join('')),
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    number,
    string,
    fc.constantFrom('true', 'false', 'null'),
    fc.array(tie('item'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc.array(tie('member'), { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
  ),
}));

describe('named numbers', () => {
  it.each([
    ['{"a":19435.50}', { a: '19435.50' }],
    ['{"a":12345678901234567890.12345678901234567890}', { a: '12345678901234567890.12345678901234567890' }],
    ['{"a":-0,"b":-0.0,"c":0}', { a: '-0', b: '-0.0', c: '0' }],
    ['{"a":1e5,"b":1E+5,"c":1.5e-7}', { a: '1e5', b: '1E+5', c: '1.5e-7' }],
    ['{"a" : 1\n,"b":\t2}', { a: '1', b: '2' }],
    ['[":5,",":5}","a\\":5,", "\\\\"]', [':5,', ':5}', 'a":5,', '\\']],
    ['{"1":{"2":3}}', { '1': { '2': '3' } }],
  ])('are quoted: %s is read as %j', (text, value) => {
    expect(quoted(text)).toEqual(value);
  });

  it('are quoted at a depth of 200 000', () => {
    const text = `${'['.repeat(200_000)}{"a":1.10}${']'.repeat(200_000)}`;
    let value = quoted(text);
    while (Array.isArray(value)) value = (value as unknown[])[0];
    expect(value).toEqual({ a: '1.10' });
  });

  it('equal the source text that the runtime reports, in any JSON, and malformed JSON stays malformed', () => {
    const damage = fc.constantFrom('', ...'1 - . e " \\ , : { } [ ] x \u0000'.split(' '));
    fc.assert(
      fc.property(json, fc.nat(), damage, fc.boolean(), (text, where, insert, drop) => {
        const at = where % (text.length + 1);
        // UTF-8 input has no lone surrogates
        const damaged = (text.slice(0, at) + insert + text.slice(drop ? at + 1 : at)).toWellFormed();
        for (const each of [text, damaged]) {
          const expected = outcome(sources, each);
          // a name with an escaped letter, which no bank writes, is not compared: its number stays a number, which no
          // field accepts
          if (expected !== 'NoSource' && !/\\u00[3-7]/.test(each))
            expect(outcome(quotedOrForeign, each)).toEqual(expected);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ...`{"a":-}  {"a":01}  {"a":-01}  {"a":1.}  {"a":.5}  {"a":1e}  {"a":1e+}  {"a":+1}  {"a":0x10}`.split('  '),
    ...`{"a":1 2}  {1:2}  {1 :2}  {"a":1 :2}  {"a" 1}  {"a":1,}  {"a":1  {"a":NaN}  {"a":1-2}  {"a":1_000}`.split('  '),
  ])('%s is still rejected', (text) => {
    expect([outcome(JSON.parse, text), outcome(quoted, text)]).toEqual(['SyntaxError', 'SyntaxError']);
  });
});
