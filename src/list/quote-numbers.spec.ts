import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { quoteNumbers } from './quote-numbers.js';

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;

/** The runtime sometimes loses the source text where a key is repeated in an object. Such texts are not compared. */
class NoSource extends Error {}

/** The expected result, from the runtime itself: each number as its source text. */
const sources = (json: string): unknown =>
  JSON.parse(json, ((_key, value, context) => {
    if (typeof value !== 'number') return value;
    if (context.source === undefined) throw new NoSource();
    return context.source;
  }) satisfies Reviver as never);

function sourcesOfRuntime(json: string): { readonly value: unknown } | null {
  try {
    return { value: sources(json) };
  } catch (error) {
    if (error instanceof NoSource) return null;
    throw error;
  }
}

const quote = (json: string): string => Buffer.from(quoteNumbers(Buffer.from(json))).toString();
const quoted = (json: string): unknown => JSON.parse(quote(json));

/** The value, or that it was rejected. */
function outcome(parse: (json: string) => unknown, json: string): { value: unknown } | 'refused' {
  try {
    return { value: parse(json) };
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused';
    throw error;
  }
}

const space = fc.stringMatching(/^[ \n\r\t]{0,2}$/);
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,30})?([eE][+-]?\d{1,4})?$/);
const character = fc.oneof(
  fc.constantFrom(
    '\\"',
    '\\\\',
    '\\/',
    '\\b',
    '\\n',
    '\\u0022',
    '\\u005c',
    '\\ud83d',
    '😀',
    '1',
    '-',
    '{',
    ']',
    ',',
    ':',
  ),
  fc.string({ minLength: 1, maxLength: 3, unit: 'binary' }).map((text) => JSON.stringify(text).slice(1, -1)),
);
const string = fc.array(character, { maxLength: 8 }).map((parts) => `"${parts.join('')}"`);

/** JSON texts with everything that the grammar allows. */
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

describe('numbers as text', () => {
  it('equal the source text that the runtime reports, in any JSON', () => {
    fc.assert(
      fc.property(json, (text) => {
        const expected = sourcesOfRuntime(text);
        fc.pre(expected !== null);
        expect(quoted(text)).toEqual(expected?.value);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['[19435.50]', ['19435.50']],
    ['[12345678901234567890.12345678901234567890]', ['12345678901234567890.12345678901234567890']],
    ['[-0, -0.0, 0]', ['-0', '-0.0', '0']],
    ['[1e5,1E+5,1.5e-7]', ['1e5', '1E+5', '1.5e-7']],
    ['{"a" : 1\n,"b":\t2}', { a: '1', b: '2' }],
    ['7', '7'],
    [' -7.10 ', '-7.10'],
    ['"7"', '7'],
    ['["1,2", "a\\"3\\"", "\\\\", 4, "\\\\\\"5"]', ['1,2', 'a"3"', '\\', '4', '\\"5']],
    ['{"1":{"2":3}}', { '1': { '2': '3' } }],
    ['[true,null,1]', [true, null, '1']],
  ])('%s is %j', (text, value) => {
    expect(quoted(text)).toEqual(value);
  });

  it('are found at a depth of 200 000', () => {
    const text = `${'['.repeat(200_000)}1.10${']'.repeat(200_000)}`;
    let value = quoted(text);
    while (Array.isArray(value)) value = (value as unknown[])[0];
    expect(value).toBe('1.10');
  });
});

describe('malformed JSON', () => {
  it.each([
    '',
    ...`-  01  -01  1.  .5  1e  1e+  +1  0x10  1 2  1,2`.split('  '),
    ...`[1 2]  [1"a"]  ["a"1]  [1,]  [1  {1:2}  {1 :2}  {"a":1 :2}  {"a" 1}  {-1 : 2}`.split('  '),
    ...`[NaN]  [-Infinity]  [1n]  [1_000]  [tru1]  [1]x  "1  [--1]  [1-2]  [1/2]  ['1']`.split('  '),
    '{ 1\n:2}',
    '["1\\"]',
    '[1\u0000]',
    '[1\u00a0]',
  ])('%j is still rejected', (text) => {
    expect(outcome(JSON.parse, text)).toBe('refused');
    expect(outcome(quoted, text)).toBe('refused');
  });

  it('is rejected exactly when the runtime rejects it, with any character added or removed', () => {
    const damage = fc.constantFrom('', '1', '-', '.', 'e', '"', '\\', ',', ':', '{', '}', '[', ']', ' ', 'x', '\u0000');
    fc.assert(
      fc.property(json, fc.nat(), damage, fc.boolean(), (text, where, insert, drop) => {
        const at = where % (text.length + 1);
        // UTF-8 input has no lone surrogates
        const damaged = (text.slice(0, at) + insert + text.slice(drop ? at + 1 : at)).toWellFormed();
        expect(outcome(quoted, damaged)).toEqual(outcome(sources, damaged));
      }),
      { numRuns: 1500 },
    );
  });
});
