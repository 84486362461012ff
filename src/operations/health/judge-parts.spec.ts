import { describe, expect, it } from '@jest/globals';
import { factsWith, failing, type FactsChange } from '../../../test/support/sample-facts.js';
import { judgeListener, judgePath, judgeSharing } from './judge-parts.js';

const EXPIRED_AT = '2026-11-21T08:05:00.000Z';
const noSnapshot = { asOf: null, expiresAt: null, ageMs: null, accounts: null, servable: false };
const notConnected = { bank: { serverCertificateEnds: null } };

const pathOf = (change: FactsChange) => judgePath(factsWith(change));

/** The components `certificate egress token bank snapshot`, each as status:code. */
function judge(change: FactsChange): string {
  const parts = Object.values(pathOf(change));
  return parts.map(({ status, code }) => (code ? `${status}:${code}` : status)).join(' ');
}

describe('the path to the bank', () => {
  it.each<[string, FactsChange, string]>([
    ['healthy', {}, 'up up up up up'],
    [
      'before the first call',
      { ...notConnected, token: { state: 'none', trouble: null }, snapshot: noSnapshot },
      'up unknown unknown unknown unknown',
    ],
    [
      'during the first refresh',
      { ...notConnected, token: { state: 'requested' }, snapshot: { ...noSnapshot, refreshing: true } },
      'up unknown unknown unknown down:bank-slow',
    ],
    [
      'during a first refresh whose token request hangs',
      {
        ...notConnected,
        token: { state: 'requested' },
        snapshot: { ...noSnapshot, refreshing: true, slowSince: '2026-11-21T08:00:00.000Z' },
      },
      'up unknown degraded:bank-slow unknown down:bank-slow',
    ],
    [
      'a copy of another instance, before the first call',
      { ...notConnected, token: { state: 'none' } },
      'up unknown unknown up up',
    ],
    [
      'certificate expired, nothing cached',
      { snapshot: noSnapshot, certificate: { unusable: 'It has expired.' } },
      'down:certificate-unusable unknown unknown unknown down:certificate-unusable',
    ],
    ['certificate in its last 30 days', { certificate: { daysLeft: 29 } }, 'degraded:certificate-expiring up up up up'],
    [
      'new certificate refused',
      { certificate: { refused: { code: 'certificate-unusable', detail: 'No.' } } },
      'degraded:certificate-unusable up up up up',
    ],
    [
      'new password refused',
      { certificate: { credentialsRefused: { code: 'credentials-rejected', detail: 'No.' } } },
      'up up degraded:credentials-rejected up up',
    ],
    [
      'token service fails, nothing cached',
      { snapshot: noSnapshot, token: { state: 'waiting', trouble: failing('bank-error') } },
      'up up down:bank-error unknown down:bank-error',
    ],
    [
      'token service fails, the old token is usable',
      { token: { trouble: failing('bank-error') } },
      'up up degraded:bank-error up up',
    ],
    [
      'proxy fails, nothing cached',
      { snapshot: noSnapshot, token: { state: 'waiting', trouble: failing('proxy-refused') } },
      'up down:proxy-refused unknown unknown down:proxy-refused',
    ],
    [
      'proxy fails under a usable token',
      { snapshot: { stale: true, trouble: failing('proxy-refused') } },
      'up degraded:proxy-refused up unknown degraded:proxy-refused',
    ],
    [
      'proxy fails after a token service that failed and whose old token is usable',
      { token: { trouble: failing('bank-error') }, snapshot: { stale: true, trouble: failing('proxy-refused') } },
      'up degraded:proxy-refused degraded:bank-error unknown degraded:proxy-refused',
    ],
    [
      'account list fails, stale copy served',
      { snapshot: { stale: true, trouble: failing('bank-error') } },
      'up up up degraded:bank-error degraded:bank-error',
    ],
    [
      'account list slow',
      { snapshot: { stale: true, slowSince: '2026-11-21T08:00:00.000Z', refreshing: true } },
      'up up up degraded:bank-slow degraded:bank-slow',
    ],
    [
      'token service slow',
      {
        token: { state: 'requested' },
        snapshot: { stale: true, slowSince: '2026-11-21T08:00:00.000Z', refreshing: true },
      },
      'up up degraded:bank-slow unknown degraded:bank-slow',
    ],
    [
      'the last refresh failed for want of a token, which is there again',
      { snapshot: { stale: true } },
      'up up up up up',
    ],
    ['no accounts after some', { snapshot: { accounts: 0, emptied: true } }, 'up up up up degraded:accounts-emptied'],
    ['no accounts since the start', { snapshot: { accounts: 0 } }, 'up up up up degraded:accounts-emptied'],
    [
      'an empty list served stale',
      { snapshot: { accounts: 0, stale: true, trouble: failing('bank-error') } },
      'up up up degraded:bank-error degraded:accounts-emptied',
    ],
    ['clocks 31 s apart', { bank: { clockSkewMs: -31_000 } }, 'up up up degraded:clock-skewed up'],
    ['clocks 30 s apart', { bank: { clockSkewMs: 30_000 } }, 'up up up up up'],
    ['snapshot file full', { sharing: { file: { failing: 'ENOSPC' } } }, 'up up up up degraded:snapshot-not-stored'],
    [
      'snapshot file full while a stale copy is served',
      { sharing: { file: { failing: 'ENOSPC' } }, snapshot: { stale: true, trouble: failing('bank-error') } },
      'up up up degraded:bank-error degraded:bank-error',
    ],
    ['idle past the maximum age', { snapshot: { servable: false } }, 'up up up up up'],
    [
      'idle past the maximum age and the end of the token',
      { token: { state: 'none', expiresAt: null, expiresInSeconds: null }, snapshot: { servable: false } },
      'up up up up up',
    ],
  ])('%s', (_name, change, expected) => {
    expect(judge(change)).toBe(expected);
  });

  it.each([
    ['behind', 600_400, "The clock of this machine is 600 s behind the bank's."],
    ['ahead', -45_000, "The clock of this machine is 45 s ahead of the bank's."],
  ])('reports by how much our clock is %s', (_direction, clockSkewMs, detail) => {
    expect(pathOf({ bank: { clockSkewMs } }).bank).toMatchObject({ owner: 'operator', detail });
  });

  it.each([
    [true, 'It listed some before.'],
    [false, 'It has listed none since this process started.'],
  ])('reports for an empty list whether an earlier one had accounts: %p', (emptied, ending) => {
    const { detail } = pathOf({ snapshot: { accounts: 0, emptied } }).snapshot;
    expect(detail).toBe(`The bank lists no accounts. ${ending}`);
  });
});

describe('past the maximum age, apps have received errors since', () => {
  const lost = { stale: false, servable: false, expiresAt: EXPIRED_AT };

  it('the expiry of the copy, if the failure began before it', () => {
    const trouble = failing('bank-error', '2026-11-21T08:00:10.000Z');
    const { snapshot } = pathOf({ snapshot: { ...lost, trouble } });
    expect(snapshot).toMatchObject({
      status: 'down',
      code: 'bank-error',
      owner: 'bank',
      detail: `The cached snapshot expired at ${EXPIRED_AT}. Apps have received errors since ${EXPIRED_AT}. It failed.`,
    });
  });

  it.each<[string, FactsChange]>([
    ['of the list', { snapshot: { ...lost, trouble: failing('bank-error', '2026-11-21T11:00:00.000Z') } }],
    [
      'of the token service',
      {
        snapshot: lost,
        token: { state: 'waiting', trouble: failing('bank-error', '2026-11-21T11:00:00.000Z') },
      },
    ],
    [
      'of the certificate, which expired',
      {
        at: Date.parse('2026-11-21T12:00:00.000Z'),
        snapshot: lost,
        certificate: { unusable: 'It has expired.', notAfter: '2026-11-21T11:00:00.000Z' },
      },
    ],
  ])('the failure %s, if the copy expired hours before it and nobody called', (_what, change) => {
    expect(pathOf(change).snapshot.detail).toContain('Apps have received errors since 2026-11-21T11:00:00.000Z.');
  });

  it('the expiry of the copy, if it is unknown when the certificate became unusable', () => {
    const { detail } = pathOf({ snapshot: lost, certificate: { unusable: 'It is not valid yet.' } }).snapshot;
    expect(detail).toContain(`Apps have received errors since ${EXPIRED_AT}.`);
  });
});

describe('components outside of the path', () => {
  const listener = { refused: null, notAfter: '2027-01-01T00:00:00.000Z', daysLeft: 30 };
  it.each([
    [judgeListener(listener), 'up', undefined],
    [judgeListener({ ...listener, daysLeft: 29 }), 'degraded', 'certificate-expiring'],
    [judgeListener({ ...listener, refused: 'no key' }), 'degraded', 'certificate-unusable'],
    [judgeSharing(null), 'up', undefined],
    [judgeSharing('it did not answer in time (timeout)'), 'degraded', 'sharing-unavailable'],
  ])('%# is %s', (part, status, code) => {
    expect([part.status, part.code]).toEqual([status, code]);
  });
});
