import { describe, expect, it } from '@jest/globals';
import { keepLines } from '../../test/support/log-lines.js';
import { BankDrift } from './bank-drift.js';

const WHOLE = ['accountId', 'currency', 'balances', 'balances[].type', 'balances[].currency'];

function begin() {
  const log = keepLines();
  const drift = new BankDrift(log);
  drift.noteKnown(new Set(WHOLE));
  return { drift, log, without: (...lacking: string[]) => new Set(WHOLE.filter((path) => !lacking.includes(path))) };
}

describe('a known field', () => {
  it('that no account has any longer is drift, logged once', () => {
    const { drift, log, without } = begin();
    drift.noteKnown(without('currency', 'balances[].currency'));
    drift.noteKnown(without('currency', 'balances[].currency'));
    const missing = [
      { path: 'currency', missing: true },
      { path: 'balances[].currency', missing: true },
    ];
    expect(drift.found).toEqual(missing);
    expect(log.lines()).toMatchObject(missing.map((each) => ({ event: 'bank.drift', level: 'warn', ...each })));
  });

  it('that is back is no drift any longer', () => {
    const { drift, without } = begin();
    drift.noteKnown(without('currency'));
    drift.noteKnown(new Set(WHOLE));
    expect(drift.found).toEqual([]);
  });

  it('that no list ever had, or of balances in a list without any, is none', () => {
    const { drift, without } = begin();
    drift.noteKnown(without('balances[].type', 'balances[].currency'));
    expect(drift.found).toEqual([]);
  });
});
