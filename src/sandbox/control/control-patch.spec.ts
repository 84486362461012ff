import { describe, expect, it } from '@jest/globals';
import { checkPatch } from './control-patch.js';

describe('checkPatch', () => {
  it('takes every switch', () => {
    const patch = {
      latencyMs: 0,
      tokenLifetimeSeconds: 1,
      grantAccess: false,
      allowedIps: ['10.0.0.0/8', '::1'],
      accounts: 200_000,
      movement: true,
      revokeTokens: true,
    };
    expect(checkPatch(patch)).toEqual({ good: true, patch });
    expect(checkPatch({})).toEqual({ good: true, patch: {} });
  });

  it('takes one failure or several, each once unless `times` is given', () => {
    const order = { endpoint: 'accounts', with: 'hang' };
    expect(checkPatch({ failNext: order })).toEqual({ good: true, patch: { failNext: [{ ...order, times: 1 }] } });
    expect(checkPatch({ failNext: [order, { ...order, times: 3 }] })).toMatchObject({
      patch: { failNext: [{ times: 1 }, { times: 3 }] },
    });
  });

  it.each([
    ['latency', { latency: 1 }],
    ['latencyMs', { latencyMs: -1 }],
    ['tokenLifetimeSeconds', { tokenLifetimeSeconds: 0 }],
    ['allowedIps.1', { allowedIps: ['::1', 'x'] }],
    ['accounts', { accounts: 1.5 }],
    ['revokeTokens', { revokeTokens: false }],
    ['failNext.0.with', { failNext: { endpoint: 'accounts', with: '418' } }],
    ['failNext', { failNext: 'hang' }],
  ])('names %s when it is wrong', (name, value) => {
    const result = checkPatch(value);
    expect(result).toMatchObject({ good: false, problems: [expect.stringContaining(name)] });
    expect(result).toMatchObject({ allowed: expect.arrayContaining(['latencyMs', 'failNext']) });
  });

  it('refuses anything but an object', () => {
    for (const value of [undefined, [], null, 1, '{}']) expect(checkPatch(value).good).toBe(false);
  });
});
