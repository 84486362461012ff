import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PLANTED, sampleAccount } from '../../test/support/sample-accounts.js';
import { KeyTree, type Drift } from './key-tree.js';
import { readPage } from './read-page.js';

/** What a page of this text brings, as the reader of pages asks it. */
function lookAt(tree: KeyTree, text: string, pageNumber = 1): readonly Drift[] {
  const { document, list } = readPage(Buffer.from(text), pageNumber);
  tree.look(document, list, Buffer.from(text), pageNumber === 1);
  return tree.take();
}

const lookFor = (accounts: readonly object[], tree = new KeyTree(), pageNumber = 1) =>
  lookAt(tree, JSON.stringify({ result: accounts }), pageNumber);

describe('what the bank sends that we do not know', () => {
  it('is nothing in a plain account, nor where things are null, missing or empty', () => {
    const nothing = Object.fromEntries(Object.keys(sampleAccount(1)).map((name) => [name, null]));
    const empty = {
      accountId: 'a',
      status: '',
      ibans: [],
      balances: [],
      accountIdentifiers: [null],
      protectionType: '',
    };
    expect(lookFor([sampleAccount(1), { ...nothing, accountId: 'b' }, empty, { accountId: 'c' }])).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Drift[]]>([
    ['a new field', { accountType: 'x' }, [{ path: 'accountType', type: 'string' }]],
    ['a new field that is null', { accountType: null }, [{ path: 'accountType', type: 'null' }]],
    [
      'a new field of a balance',
      { balances: [{ blockedAmount: 1 }] },
      [{ path: 'balances[].blockedAmount', type: 'number' }],
    ],
    [
      'a new object',
      { owner: { id: 'x', tags: ['y'] } },
      [
        { path: 'owner', type: 'object' },
        { path: 'owner.id', type: 'string' },
        { path: 'owner.tags', type: 'array' },
        { path: 'owner.tags[]', type: 'string' },
      ],
    ],
    ['a text where a number was', { netInterestRate: '3.25' }, [{ path: 'netInterestRate', type: 'string' }]],
    ['a number where a text was', { ownedByCompanyNumber: 12578 }, [{ path: 'ownedByCompanyNumber', type: 'number' }]],
    ['a boolean', { friendlyName: true }, [{ path: 'friendlyName', type: 'boolean' }]],
    ['an object in a list of texts', { ibans: [{}] }, [{ path: 'ibans[]', type: 'object' }]],
    ['another state', { status: 'Frozen' }, [{ path: 'status', type: 'string', value: 'Frozen' }]],
    ['another protection', { protectionType: 'Full' }, [{ path: 'protectionType', type: 'string', value: 'Full' }]],
    [
      'another kind of balance',
      { balances: [{ type: 'Available' }] },
      [{ path: 'balances[].type', type: 'string', value: 'Available' }],
    ],
    ['a state that is no word', { status: PLANTED.iban }, [{ path: 'status', type: 'string' }]],
    ['a state that is too long', { status: 'x'.repeat(41) }, [{ path: 'status', type: 'string' }]],
    ['a state that is a number', { status: 5 }, [{ path: 'status', type: 'number' }]],
  ])('%s', (_name, change, expected) => {
    const tree = new KeyTree();
    const changed = sampleAccount(2, change);
    expect(lookFor([sampleAccount(1), changed, changed], tree)).toEqual(expected);
    // each once
    expect(lookFor([changed], tree)).toEqual([]);
    expect(lookFor([changed], tree, 2)).toEqual([]);
    // and just so on a later page, but for what only the first shows
    const later = ['netInterestRate', 'ownedByCompanyNumber'].some((name) => name in change) ? [] : expected;
    expect(lookFor([sampleAccount(1), changed], new KeyTree(), 2)).toEqual(later);
  });

  it('stands around the list, whatever the list is called', () => {
    const around = { links: { next: 'x' }, pageInfo: { rowCount: 1, pages: 1 }, rowCount: 1, pageSize: 50 };
    const expected = [
      { path: 'envelope.links', type: 'object' },
      { path: 'envelope.links.next', type: 'string' },
      { path: 'envelope.pageInfo.pages', type: 'number' },
    ];
    for (const name of ['result', 'accounts', 'list_2', PLANTED.iban]) {
      expect(lookAt(new KeyTree(), JSON.stringify({ ...around, [name]: [sampleAccount(1)] }))).toEqual(expected);
      expect(lookAt(new KeyTree(), JSON.stringify({ [name]: [sampleAccount(1)] }))).toEqual([]);
    }
    expect(lookAt(new KeyTree(), JSON.stringify([sampleAccount(1, { extra: 1 })]))).toEqual([
      { path: 'extra', type: 'number' },
    ]);
  });

  it.each([PLANTED.iban, 'a'.repeat(41), 'a12345', '1a', 'with space', 'ключ', '', '7654321.98', 'line\nend'])(
    'a key that may be data is not told: %j',
    (key) => {
      expect(lookFor([sampleAccount(1, { [key]: { [key]: 1 } })])).toEqual([
        { path: '*', type: 'object' },
        { path: '*.*', type: 'number' },
      ]);
    },
  );

  it.each(['a', 'A_b', '_x', 'a'.repeat(40), 'a1234', '__proto__', 'constructor', 'hasOwnProperty', 'toString'])(
    'a key that is a name is told: %s',
    (key) => {
      const account = JSON.stringify(sampleAccount(1)).replace('{', `{${JSON.stringify(key)}:{"polluted":true},`);
      const tree = new KeyTree();
      expect(lookAt(tree, `{"result":[${account}]}`)).toEqual([
        { path: key, type: 'object' },
        { path: `${key}.polluted`, type: 'boolean' },
      ]);
      expect(lookAt(tree, `{"result":[${account}]}`, 2)).toEqual([]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  it('is told by 100 paths at most, and quickly, whatever comes', () => {
    const names = (count: number, prefix: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, index]));
    for (const prefix of ['k', 'key-', 'DE8937040044']) {
      const tree = new KeyTree();
      const text = JSON.stringify({ result: [sampleAccount(1, names(100_000, prefix))] });
      const { user, system } = process.cpuUsage();
      const found = lookAt(tree, text);
      expect(found).toHaveLength(prefix === 'k' ? 100 : 1);
      expect(lookAt(tree, text, 2)).toEqual([]);
      const spent = process.cpuUsage();
      expect(spent.user + spent.system - user - system).toBeLessThan(10_000_000);
    }
    const words = Array.from({ length: 500 }, (_, index) =>
      sampleAccount(index, { status: `W${String.fromCodePoint(65 + (index % 26), 65 + Math.floor(index / 26))}` }),
    );
    const tree = new KeyTree();
    expect(lookFor(words, tree)).toHaveLength(100);
    expect(lookFor([sampleAccount(1, { another: 1 })], tree)).toEqual([]);
  });

  it('is looked for no deeper than 8, 200 000 deep as it may be', () => {
    const deep = (open: string, close: string, core = '') => open.repeat(200_000) + core + close.repeat(200_000);
    for (const value of [deep('[', ']'), deep('{"a":', '}', '1')]) {
      const text = JSON.stringify({ result: [sampleAccount(1)] }).replace('"accountId"', `"x":${value},"accountId"`);
      const tree = new KeyTree();
      expect(lookAt(tree, text)).toHaveLength(8);
      expect(lookAt(tree, text, 2)).toEqual([]);
    }
  });

  it('a page of more than 8 MB is parsed once: numbers are then told by their look', () => {
    const text = JSON.stringify({
      result: [sampleAccount(1, { long: 'x'.repeat(8 * 1024 * 1024), rate: 1, word: 'a', netInterestRate: '3' })],
    });
    expect(lookAt(new KeyTree(), text)).toEqual([
      { path: 'long', type: 'string' },
      { path: 'rate', type: 'number' },
      { path: 'word', type: 'string' },
    ]);
  });

  it('after a page has been learnt, is nothing in it, whatever it is; and no value is told', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 5 }), (rows) => {
        const tree = new KeyTree();
        const text = JSON.stringify({ result: rows.map((row) => ({ status: 'Active', ...row })) });
        const first = lookAt(tree, text, 2);
        expect(lookAt(tree, text, 2)).toEqual([]);
        expect(lookAt(tree, text, 3)).toEqual([]);
        for (const { path } of first)
          expect(path).toMatch(/^(?:[A-Za-z_]\w{0,39}|\*)(?:\[\]|\.(?:[A-Za-z_]\w{0,39}|\*))*$/);
      }),
      { numRuns: 200 },
    );
  });
});
