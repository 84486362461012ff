import { describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { Account } from './account.js';
import { account, balance, accountLists } from '../../test/support/sample-snapshots.js';
import { CSV_COLUMNS, toCsv, type CsvDialect } from './csv.js';

const AS_OF = '2026-11-21T08:00:00.000Z';
const PLAIN: CsvDialect = { separator: 'comma', decimal: 'point' };
const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t' };
const write = (accounts: readonly Account[], dialect = PLAIN) => [...toCsv(accounts, AS_OF, dialect)].join('');
const read = (accounts: readonly Account[], dialect = PLAIN) =>
  parse(write(accounts, dialect), {
    bom: true,
    columns: true,
    delimiter: DELIMITERS[dialect.separator],
    record_delimiter: '\r\n',
  }) as Record<string, string>[];

describe('CSV', () => {
  it('begins with a byte order mark and the documented columns', () => {
    expect(write([])).toBe(
      '\uFEFFid,name,description,status,currency,iban,ownerId,ownerName,ownerNumber,openedAt,closedAt,balanceType,balanceCurrency,beginOfDay,intraDay,current,blocked,financialDate,lastTransactionAt,asOf\r\n',
    );
  });

  const FORMULAS = ['=cmd|calc', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\u0000=1+1', '\u0001\u001f@x', ' =1'];
  const WIDE = ['＝1+1', '＋1', '－1', '＠SUM(A1)', '\u00a0\u3000-1', '\u200b\u202e\ufeff+1', '\u2028\n＝1'];
  it.each([...FORMULAS, ...WIDE])('the name %j gets a leading apostrophe', (name) => {
    expect(read([account({ name })])[0]?.['name']).toBe(`'${name}`);
  });

  const SPECIAL = [
    'semi; colon',
    'tab\tin it',
    'say "hi", they said',
    'two\nlines',
    'two\r\nlines',
    'lone\rreturn',
    '"',
  ];
  it.each([...SPECIAL, '\u0000x', 'x =1', '–1', '👩‍👩‍👧 東京', ' spaced ', "'=1", 'a=1'])(
    'the name %j is unchanged when read back',
    (name) => {
      expect(read([account({ name })])[0]?.['name']).toBe(name);
    },
  );

  it.each(['comma', 'semicolon', 'tab'] as const)(
    'quotes text that contains any separator, even if cells are separated by %s',
    (separator) => {
      const names = ['a,b', 'a;b', 'a\tb', 'a"b'];
      const text = write(
        names.map((name) => account({ name })),
        { separator, decimal: 'point' },
      );
      for (const name of names) expect(text).toContain(`"${name.replace('"', '""')}"`);
    },
  );

  it('quotes an amount only if its comma is the separator', () => {
    const amounts = [account({ balances: [balance({ current: '1.50' })] })];
    expect(write(amounts, { separator: 'comma', decimal: 'comma' })).toContain(',"1,50",');
    expect(write(amounts, { separator: 'semicolon', decimal: 'comma' })).toContain(';1,50;');
  });

  it('escapes formulas in every text column and in no amount', () => {
    const evil = '=1+1';
    const amounts = {
      beginOfDay: '-1.50',
      intraDay: '-0.00000000000000000001',
      current: '-1.50000000000000000001',
      blocked: '-2',
    };
    const ofBalance = { type: evil, currency: evil, financialDate: evil, lastTransactionAt: evil };
    const ofAccount = { id: evil, name: evil, description: evil, status: evil, currency: evil, iban: evil };
    const [row] = read([
      account({
        ...ofAccount,
        owner: { id: evil, name: evil, number: evil },
        openedAt: evil,
        closedAt: evil,
        balances: [balance({ ...ofBalance, ...amounts })],
      }),
    ]);
    const texts = Object.fromEntries(CSV_COLUMNS.map((column) => [column, "'=1+1"]));
    expect(row).toEqual({ ...texts, ...amounts, asOf: AS_OF });
  });

  it('has a row for each balance, one for an account without, and another parser reads the same values', () => {
    fc.assert(
      fc.property(accountLists, (accounts) => {
        const rows = read(accounts);
        const expected = accounts.flatMap((of) =>
          (of.balances.length ? of.balances : [null]).map((entry) => ({ of, entry })),
        );
        expect(rows).toHaveLength(expected.length);
        expected.forEach(({ of, entry }, index) => {
          expect(rows[index]?.['name']).toBe(
            /^(?:[\t\r]|[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠])/u.test(of.name) ? `'${of.name}` : of.name,
          );
          expect(rows[index]?.['beginOfDay']).toBe(entry?.beginOfDay ?? '');
          expect(rows[index]?.['current']).toBe(entry?.current ?? '');
          expect(rows[index]?.['asOf']).toBe(AS_OF);
        });
      }),
      { numRuns: 100 },
    );
  });
});
