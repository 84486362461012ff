import { describe, expect, it } from '@jest/globals';
import { FaultQueue } from './faults.js';

describe('FaultQueue', () => {
  it('serves each endpoint in order, as often as ordered', () => {
    const queue = new FaultQueue();
    queue.add([
      { endpoint: 'accounts', times: 2, with: '500' },
      { endpoint: 'authorize', times: 1, with: 'hang' },
    ]);
    queue.add([{ endpoint: 'accounts', times: 1, with: '404' }]);
    expect(queue.take('authorize')).toBe('hang');
    expect(queue.take('authorize')).toBeNull();
    expect(queue.take('accounts')).toBe('500');
    expect(queue.pending()).toEqual([
      { endpoint: 'accounts', times: 1, with: '500' },
      { endpoint: 'accounts', times: 1, with: '404' },
    ]);
    expect([queue.take('accounts'), queue.take('accounts'), queue.take('accounts')]).toEqual(['500', '404', null]);
  });

  it('forgets all when cleared', () => {
    const queue = new FaultQueue();
    queue.add([{ endpoint: 'accounts', times: 9, with: '503' }]);
    queue.clear();
    expect(queue.take('accounts')).toBeNull();
  });
});
