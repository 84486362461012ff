import { describe, expect, it } from '@jest/globals';
import { isProblemCode, PROBLEM_CODES, PROBLEMS, type ProblemCode } from './problem-table.js';

/** The codes of docs/errors.md#the-codes, written once more here, so that none changes unnoticed. */
const DOCUMENTED: readonly (readonly [string, number, string])[] = [
  ['invalid-request', 400, 'caller'],
  ['malformed-request', 400, 'caller'],
  ['request-timeout', 408, 'caller'],
  ['request-too-large', 413, 'caller'],
  ['client-not-allowed', 403, 'caller'],
  ['not-found', 404, 'caller'],
  ['account-not-found', 404, 'caller'],
  ['method-not-allowed', 405, 'caller'],
  ['not-acceptable', 406, 'caller'],
  ['host-not-allowed', 421, 'caller'],
  ['credentials-rejected', 502, 'operator'],
  ['certificate-rejected', 502, 'operator'],
  ['certificate-unusable', 503, 'operator'],
  ['address-not-allowed', 502, 'operator'],
  ['access-not-granted', 502, 'bank'],
  ['bank-untrusted', 502, 'operator'],
  ['bank-refused', 502, 'operator'],
  ['bank-response-invalid', 502, 'bank'],
  ['bank-unavailable', 503, 'network'],
  ['bank-rate-limited', 503, 'bank'],
  ['bank-timeout', 504, 'bank'],
  ['proxy-refused', 502, 'network'],
  ['proxy-unavailable', 503, 'network'],
  ['not-cached', 504, 'caller'],
  ['overloaded', 503, 'operator'],
  ['stopping', 503, 'operator'],
  ['internal-error', 500, 'operator'],
];

describe('the table of problems', () => {
  it('has the codes, statuses and owners that callers rely on, and no others', () => {
    const table = PROBLEM_CODES.map((code) => [code, PROBLEMS[code].status, PROBLEMS[code].owner]);
    expect(table.sort()).toEqual(DOCUMENTED.map((row) => [...row]).sort());
  });

  it.each(PROBLEM_CODES)('says of %s what it means and what to do, in sentences', (code) => {
    const { title, meaning, remedy } = PROBLEMS[code as ProblemCode];
    for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z].{15,}\.$/);
    expect(title).toMatch(/^[A-Z].{5,}[^.]$/);
  });

  it('knows its own codes, and not what every object has', () => {
    expect(['bank-timeout', 'toString', '__proto__', 'constructor', ''].map(isProblemCode)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
