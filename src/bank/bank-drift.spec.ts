import { describe, expect, it } from '@jest/globals';
import { keepLines } from '../../test/support/log-lines.js';
import type { Drift } from '../list/list-drift.js';
import { BankDrift } from './bank-drift.js';

const WHOLE = ['accountId', 'currency', 'balances', 'balances[].type', 'balances[].currency'];

function begin() {
  const log = keepLines();
  const drift = new BankDrift(log.log);
  /** A complete list without some known fields, with some drift. */
  const note = (lacking: readonly string[] = [], found: readonly Drift[] = []) =>
    drift.noteList({ known: WHOLE.filter((path) => !lacking.includes(path)), drift: found });
  return { drift, log, note };
}

describe('drift', () => {
  it('is that of the last complete list, logged once', () => {
    const { drift, log, note } = begin();
    const [one, other] = [{ path: 'newField' }, { path: 'status', value: 'Frozen' }];
    note([], [one, other]);
    expect([drift.found, drift.count]).toEqual([[one, other], 2]);
    note();
    expect([drift.found, drift.count]).toEqual([[], 0]);
    note([], [one]);
    expect(drift.found).toEqual([one]);
    expect(log.lines()).toMatchObject([one, other].map((each) => ({ event: 'bank.drift', level: 'warn', ...each })));
  });

  it('shows 50 entries and counts all; one bad list does not hide later drift', () => {
    const { drift, log, note } = begin();
    note(
      [],
      Array.from({ length: 200 }, (_, index) => ({ path: `bad${index}` })),
    );
    expect([drift.found.length, drift.count]).toEqual([50, 200]);
    note([], [{ path: 'real' }]);
    expect(drift.found).toEqual([{ path: 'real' }]);
    expect(log.lines('bank.drift')).toHaveLength(51);
  });
});

describe('a known field', () => {
  it('is drift once no account has it any longer', () => {
    const { drift, log, note } = begin();
    note();
    for (let refresh = 0; refresh < 2; refresh++) note(['currency', 'balances[].currency']);
    const missing = [
      { path: 'currency', missing: true },
      { path: 'balances[].currency', missing: true },
    ];
    expect(drift.found).toEqual(missing);
    expect(log.lines()).toMatchObject(missing.map((each) => ({ event: 'bank.drift', level: 'warn', ...each })));
    note();
    expect(drift.found).toEqual([]);
  });

  it('is not drift if no list ever had it, or if the list has no accounts or no balances', () => {
    const { drift, note } = begin();
    note(['currency']);
    note(['currency', 'balances[].type', 'balances[].currency']);
    drift.noteList({ known: [], drift: [] });
    expect(drift.found).toEqual([]);
  });
});
