import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../problems/gateway-error.js';
import { judgeListener, judgePath, judgeSharing, type PathFacts } from './judge-parts.js';

const healthy: PathFacts = {
  ready: true,
  certificate: { unusable: null, refused: null, notAfter: '2027-01-01T00:00:00.000Z', daysLeft: 300 },
  token: { usable: true, error: null },
  bank: { error: null, slow: false, tried: true },
  snapshot: { expiresAt: '2026-11-21T08:05:00.000Z', servable: true, stale: false, emptied: false },
  everAnswered: true,
};
const noCopy = { ready: false, snapshot: { expiresAt: null, servable: false, stale: false, emptied: false } };
const stale = { ...healthy.snapshot, stale: true };
const failed = (code: 'bank-error' | 'proxy-refused') => new GatewayError(code, 'It failed.');

/** `certificate egress token bank snapshot`, each as status:code. */
function judge(change: Partial<PathFacts>): string {
  const parts = Object.values(judgePath({ ...healthy, ...change }));
  return parts.map(({ status, problem }) => (problem ? `${status}:${problem.code}` : status)).join(' ');
}

describe('the path to the bank', () => {
  it.each<[string, Partial<PathFacts>, string]>([
    ['healthy', {}, 'up up up up up'],
    [
      'before the first call',
      {
        ...noCopy,
        token: { usable: false, error: null },
        bank: { ...healthy.bank, tried: false },
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
      { certificate: { ...healthy.certificate, refused: { code: 'credentials-rejected', detail: 'No.' } } },
      'degraded:credentials-rejected up up up up',
    ],
    [
      'token service fails, nothing cached',
      { ...noCopy, token: { usable: false, error: failed('bank-error') } },
      'up up down:bank-error unknown down:bank-error',
    ],
    [
      'token service fails, the old token is usable',
      { token: { usable: true, error: failed('bank-error') } },
      'up up degraded:bank-error up up',
    ],
    [
      'proxy fails, nothing cached',
      { ...noCopy, token: { usable: false, error: failed('proxy-refused') } },
      'up down:proxy-refused unknown unknown down:proxy-refused',
    ],
    [
      'proxy fails under a usable token',
      { bank: { ...healthy.bank, error: failed('proxy-refused') }, snapshot: stale },
      'up degraded:proxy-refused up unknown degraded:proxy-refused',
    ],
    [
      'account list fails, stale copy served',
      { bank: { ...healthy.bank, error: failed('bank-error') }, snapshot: stale },
      'up up up degraded:bank-error degraded:bank-error',
    ],
    [
      'account list slow',
      { bank: { ...healthy.bank, slow: true }, snapshot: stale },
      'up up up degraded:bank-slow degraded:bank-slow',
    ],
    [
      'no accounts after some',
      { snapshot: { ...healthy.snapshot, emptied: true } },
      'up up up up degraded:accounts-emptied',
    ],
    ['idle past the maximum age', { snapshot: { ...healthy.snapshot, servable: false } }, 'up up up up up'],
  ])('%s', (_name, change, expected) => {
    expect(judge(change)).toBe(expected);
  });

  it('past the maximum age says since when apps get errors', () => {
    const { snapshot } = judgePath({
      ...healthy,
      ready: false,
      bank: { ...healthy.bank, error: failed('bank-error') },
      snapshot: { ...stale, servable: false },
    });
    expect(snapshot).toMatchObject({
      status: 'down',
      problem: {
        code: 'bank-error',
        owner: 'bank',
        detail: 'The cached snapshot expired at 2026-11-21T08:05:00.000Z. Apps get errors since then. It failed.',
      },
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
    expect([part.status, part.problem?.code]).toEqual([status, code]);
  });
});
