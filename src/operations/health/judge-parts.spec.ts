import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../errors/gateway-error.js';
import { judgeListener, judgePath, judgeSharing, type PathFacts } from './judge-parts.js';

const snapshot: PathFacts['snapshot'] = {
  error: null,
  slow: false,
  asOf: '2026-11-21T08:00:00.000Z',
  restored: false,
  expiresAt: '2026-11-21T08:05:00.000Z',
  servable: true,
  stale: false,
  emptied: false,
};
const healthy: PathFacts = {
  ready: true,
  everAnswered: true,
  certificate: { unusable: null, refused: null, notAfter: '2027-01-01T00:00:00.000Z', daysLeft: 300 },
  token: { state: 'usable', error: null },
  snapshot,
};
const noCopy = { ready: false, snapshot: { ...snapshot, expiresAt: null, servable: false } };
const stale = { ...snapshot, stale: true };
const failed = (code: 'bank-error' | 'proxy-refused') => new GatewayError(code, 'It failed.');

/** `certificate egress token bank snapshot`, each as status:code. */
function judge(change: Partial<PathFacts>): string {
  const parts = Object.values(judgePath({ ...healthy, ...change }));
  return parts.map(({ status, code }) => (code ? `${status}:${code}` : status)).join(' ');
}

describe('the path to the bank', () => {
  it.each<[string, Partial<PathFacts>, string]>([
    ['healthy', {}, 'up up up up up'],
    [
      'before the first call',
      {
        ready: false,
        token: { state: 'none', error: null },
        snapshot: { ...noCopy.snapshot, asOf: null },
        everAnswered: false,
      },
      'up unknown unknown unknown down:bank-slow',
    ],
    [
      'certificate expired, nothing cached',
      { ...noCopy, certificate: { ...healthy.certificate, unusable: 'It has expired.' } },
      'down:certificate-unusable unknown unknown unknown down:certificate-unusable',
    ],
    [
      'certificate in its last 30 days',
      { certificate: { ...healthy.certificate, daysLeft: 29 } },
      'degraded:certificate-expiring up up up up',
    ],
    [
      'new certificate refused',
      { certificate: { ...healthy.certificate, refused: { code: 'credentials-rejected', detail: 'No.', at: '' } } },
      'degraded:credentials-rejected up up up up',
    ],
    [
      'token service fails, nothing cached',
      { ...noCopy, token: { state: 'waiting', error: failed('bank-error') } },
      'up up down:bank-error unknown down:bank-error',
    ],
    [
      'token service fails, the old token is usable',
      { token: { state: 'usable', error: failed('bank-error') } },
      'up up degraded:bank-error up up',
    ],
    [
      'proxy fails, nothing cached',
      { ...noCopy, token: { state: 'waiting', error: failed('proxy-refused') } },
      'up down:proxy-refused unknown unknown down:proxy-refused',
    ],
    [
      'proxy fails under a usable token',
      { snapshot: { ...stale, error: failed('proxy-refused') } },
      'up degraded:proxy-refused up unknown degraded:proxy-refused',
    ],
    [
      'account list fails, stale copy served',
      { snapshot: { ...stale, error: failed('bank-error') } },
      'up up up degraded:bank-error degraded:bank-error',
    ],
    ['account list slow', { snapshot: { ...stale, slow: true } }, 'up up up degraded:bank-slow degraded:bank-slow'],
    ['no accounts after some', { snapshot: { ...snapshot, emptied: true } }, 'up up up up degraded:accounts-emptied'],
    ['idle past the maximum age', { snapshot: { ...snapshot, servable: false } }, 'up up up up up'],
  ])('%s', (_name, change, expected) => {
    expect(judge(change)).toBe(expected);
  });

  it('past the maximum age says since when apps get errors', () => {
    const part = judgePath({
      ...healthy,
      ready: false,
      snapshot: { ...stale, error: failed('bank-error'), servable: false },
    }).snapshot;
    expect(part).toMatchObject({
      status: 'down',
      code: 'bank-error',
      owner: 'bank',
      detail: 'The cached snapshot expired at 2026-11-21T08:05:00.000Z. Apps get errors since then. It failed.',
    });
  });
});

describe('beside the path', () => {
  const listener = { refused: null, notAfter: '2027-01-01T00:00:00.000Z', daysLeft: 30 };
  it.each([
    [judgeListener(listener), 'up', undefined],
    [judgeListener({ ...listener, daysLeft: 29 }), 'degraded', 'certificate-expiring'],
    [judgeListener({ ...listener, refused: 'no key' }), 'degraded', 'certificate-unusable'],
    [judgeSharing(null), 'up', undefined],
    [judgeSharing('timeout'), 'degraded', 'sharing-unavailable'],
  ])('%# is %s', (part, status, code) => {
    expect([part.status, part.code]).toEqual([status, code]);
  });
});
