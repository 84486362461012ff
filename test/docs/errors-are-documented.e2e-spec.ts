import { describe, expect, it } from '@jest/globals';
import { ALL_CODES, PROBLEMS } from '../../src/problems/problem-table.js';
import { coded, readDocument, rowsUnder, withoutRow } from '../support/documents.js';

const document = readDocument('docs/errors.md');

const told = (text: string) =>
  rowsUnder(text, 'code', 'status', 'owner', 'when').map(([code, status = '', owner = '', when]) => ({
    code: coded(code).join(),
    status: status === '–' ? null : parseInt(status, 10),
    owner: /^[a-z]+/.exec(owner)?.[0],
    said: when !== '',
  }));

const known = ALL_CODES.map((code) => ({
  code,
  status: PROBLEMS[code].status,
  owner: PROBLEMS[code].owner,
  said: true,
}));

describe('the errors in docs/errors.md', () => {
  it('are those of the table, with status and owner', () => {
    expect(told(document)).toEqual(known);
  });

  it.each([
    ['a code without its row', withoutRow(document, '`bank-unreachable`')],
    ['another status', document.replace(/^(\| `overloaded`\s*\| )503/m, '$1500')],
    ['another owner', document.replace(/^(\| `stopping`\s*\| 503\s*\| )operator/m, '$1caller  ')],
  ])('its twin: %s is found', (_name, changed) => {
    expect(changed).not.toBe(document);
    expect(told(changed)).not.toEqual(known);
  });
});

describe('the example in docs/errors.md', () => {
  it('has the title and status of its code', () => {
    const [, text = '{}'] = /```json\n([\s\S]+?)```/.exec(document) ?? [];
    const { code, title, status, type } = JSON.parse(text) as Record<string, unknown> & { code: keyof typeof PROBLEMS };
    expect({ title, status, type }).toEqual({
      title: PROBLEMS[code].title,
      status: PROBLEMS[code].status,
      type: `/problems/${code}`,
    });
  });
});

describe('codes that other documents name', () => {
  it('exist', () => {
    const rows = rowsUnder(readDocument('docs/bank.md'), 'where', 'what the bank answers', 'our code');
    expect(rows.flatMap((row) => coded(row[2])).filter((code) => !ALL_CODES.includes(code as never))).toEqual([]);
  });
});
