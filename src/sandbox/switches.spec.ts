import { describe, expect, it } from '@jest/globals';
import { Switches } from './switches.js';

const START = {
  latencyMs: 0,
  tokenLifetimeSeconds: 300,
  grantAccess: true,
  allowedIps: ['127.0.0.1'],
  accounts: 120,
  movement: false,
  failNext: [],
};

describe('Switches', () => {
  it('take failures for each endpoint in order, as often as ordered', () => {
    const switches = new Switches(START);
    switches.set({
      failNext: [
        { endpoint: 'accounts', times: 2, with: '500' },
        { endpoint: 'authorize', times: 1, with: 'hang' },
      ],
    });
    switches.set({ failNext: [{ endpoint: 'accounts', times: 1, with: '404' }] });
    expect([switches.takeFault('authorize'), switches.takeFault('authorize')]).toEqual(['hang', null]);
    expect(switches.takeFault('accounts')).toBe('500');
    expect(switches.values.failNext).toEqual([
      { endpoint: 'accounts', times: 1, with: '500' },
      { endpoint: 'accounts', times: 1, with: '404' },
    ]);
    expect([1, 2, 3].map(() => switches.takeFault('accounts'))).toEqual(['500', '404', null]);
  });

  it('are set back to the start, failures still to come included', () => {
    const switches = new Switches(START);
    switches.set({ allowedIps: [], movement: true, failNext: [{ endpoint: 'accounts', times: 9, with: '503' }] });
    expect(switches.admits('127.0.0.1')).toBe(false);
    expect(switches.movingSeconds()).toBe(0);
    switches.reset();
    expect(switches.values).toEqual(START);
    expect(switches.admits('127.0.0.1')).toBe(true);
    expect(switches.takeFault('accounts')).toBeNull();
  });
});
