import { describe, expect, it } from '@jest/globals';
import { ListDrift } from './list-drift.js';

const KNOWN = {
  accountId: 'a',
  status: 'Active',
  balances: [{ type: 'CurrentBalance', currency: 'EUR' }],
  ibans: ['x'],
};

function find(...accounts: object[]) {
  const fields = new ListDrift();
  for (const account of accounts) fields.add(account as Record<string, unknown>);
  return fields.found().drift;
}

describe('drift', () => {
  it('does not include known, empty or null values', () => {
    expect(find(KNOWN, {}, { status: null, protectionType: '', balances: null, accountIdentifiers: [null] })).toEqual(
      [],
    );
  });

  it('includes each unknown key of an account, a balance or an identifier once', () => {
    const strange = {
      newField: { deep: 1 },
      balances: [{ availableAmount: 1 }, { availableAmount: 2 }],
      accountIdentifiers: [{ kind: 'IBAN' }],
    };
    expect(find(KNOWN, strange, strange)).toEqual([
      { path: 'newField' },
      { path: 'balances[].availableAmount' },
      { path: 'accountIdentifiers[].kind' },
    ]);
  });

  it('includes unknown words of status, protectionType and balance types', () => {
    expect(find({ status: 'Frozen', protectionType: 'Other' }, { balances: [{ type: 'Reserved' }] })).toEqual([
      { path: 'status', value: 'Frozen' },
      { path: 'protectionType', value: 'Other' },
      { path: 'balances[].type', value: 'Reserved' },
    ]);
  });

  it.each([
    ['of 41 letters', 'x'.repeat(41)],
    ['with a digit', 'DE89'],
    ['that is not a string', true],
    ['that is an object with its own toString', { toString: 1 }],
  ])('does not show the value %s', (_name, status) => {
    expect(find({ status })).toEqual([{ path: 'status' }]);
  });

  it.each(['DE89370400440532013000', 'x'.repeat(41), 'a-b', '', 'a12345', '__proto__x1y2z3a4b5', 'ä'])(
    'shows the key %p as *',
    (key) => {
      expect(find({ [key]: 1 }, { balances: [{ [key]: 1 }] })).toEqual([{ path: '*' }, { path: 'balances[].*' }]);
    },
  );

  it.each(['x'.repeat(40), 'a1234', '_x', 'toString', 'constructor'])('shows the key %p', (key) => {
    expect(find({ [key]: 1 })).toEqual([{ path: key }]);
  });

  it('has at most 200 entries', () => {
    const keys = Array.from({ length: 300 }, (_, index) => [`key${'x'.repeat(index % 30)}${index}`, 1]);
    expect(find(Object.fromEntries(keys) as object)).toHaveLength(200);
  });
});
