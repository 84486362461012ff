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
  it('is drift when no account has it any longer, logged once', () => {
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

  it('is no longer drift when it is back, and not logged again when it is missing again', () => {
    const { drift, log, without } = begin();
    drift.noteKnown(without('currency'));
    drift.noteKnown(new Set(WHOLE));
    expect(drift.found).toEqual([]);
    drift.noteKnown(without('currency'));
    expect(drift.found).toEqual([{ path: 'currency', missing: true }]);
    expect(log.lines('bank.drift')).toHaveLength(1);
  });

  it('is not drift if no list ever had it, or if the list has no balances', () => {
    const { drift, without } = begin();
    drift.noteKnown(without('balances[].type', 'balances[].currency'));
    expect(drift.found).toEqual([]);
  });
});
