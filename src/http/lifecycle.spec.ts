import { describe, expect, it } from '@jest/globals';
import { Lifecycle } from './lifecycle.js';

const stateOf = ({ stopping, draining }: Lifecycle) => ({ stopping, draining });

describe('the way from start to stop', () => {
  it('begins by serving', () => {
    expect(stateOf(new Lifecycle())).toEqual({ stopping: false, draining: false });
  });

  it('goes on by leaving, while still serving', () => {
    const lifecycle = new Lifecycle();
    lifecycle.leave();
    expect(stateOf(lifecycle)).toEqual({ stopping: true, draining: false });
  });

  it('ends by draining, and does not go back', () => {
    const lifecycle = new Lifecycle();
    lifecycle.drain();
    lifecycle.leave();
    expect(stateOf(lifecycle)).toEqual({ stopping: true, draining: true });
  });
});
