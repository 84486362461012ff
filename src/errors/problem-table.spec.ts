import { describe, expect, it } from '@jest/globals';
import { ALL_CODES, PROBLEM_CODES, PROBLEMS, remedyOf, type AnyCode } from './problem-table.js';

/** The codes of docs/errors.md#the-codes, repeated here so that none changes unnoticed. */
const DOCUMENTED: readonly (readonly [string, number | null, string])[] = [
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
  ['bank-unreachable', 503, 'network'],
  ['bank-error', 503, 'bank'],
  ['bank-rate-limited', 503, 'bank'],
  ['bank-timeout', 504, 'bank'],
  ['proxy-refused', 502, 'network'],
  ['proxy-unavailable', 503, 'network'],
  ['overloaded', 503, 'operator'],
  ['stopping', 503, 'operator'],
  ['internal-error', 500, 'operator'],
  ['certificate-expiring', null, 'operator'],
  ['bank-slow', null, 'bank'],
  ['accounts-emptied', null, 'bank'],
  ['clock-skewed', null, 'operator'],
  ['network-error', null, 'network'],
  ['snapshot-not-stored', null, 'operator'],
  ['sharing-unavailable', null, 'operator'],
];

describe('the table of problems', () => {
  it('has the codes, statuses and owners that callers rely on, and no others', () => {
    const table = ALL_CODES.map((code) => [code, PROBLEMS[code].status, PROBLEMS[code].owner]);
    expect(table.sort()).toEqual(DOCUMENTED.map((row) => [...row]).sort());
  });

  it('distinguishes codes of responses from codes that no response has', () => {
    const only = ALL_CODES.filter((code) => PROBLEMS[code].status === null);
    expect([...PROBLEM_CODES, ...only].sort()).toEqual([...ALL_CODES].sort());
    expect(only).toContain('bank-slow');
  });

  it.each<[AnyCode, string, RegExp]>([
    ['bank-unreachable', 'a proxy that is up and cannot reach the bank', /ask the bank first/],
    ['bank-refused', 'a 403 from the list: the allowlist', /allowlist/],
    ['certificate-unusable', 'a password file that is gone', /names another file, correct that one/],
    ['proxy-refused', 'a proxy without TLS under https://', /http:\/\/ or https:\/\//],
    ['sharing-unavailable', 'a wrong password in REDIS_URL', /correct REDIS_URL/],
  ])('the remedy of %s covers %s, as its detail does', (code, _case, advice) => {
    expect(remedyOf(code)).toMatch(advice);
  });
});
