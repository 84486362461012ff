import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { listenForStop } from './listen-for-stop.js';

function start(sameKeyMs?: number) {
  const exits: number[] = [];
  const process = Object.assign(new EventEmitter(), { exit: (code: number) => exits.push(code) });
  return { process, exits, stop: listenForStop(process as unknown as NodeJS.Process, sameKeyMs) };
}

describe('a second signal', () => {
  it('ends the process at once if it is SIGTERM', () => {
    const { process, exits, stop } = start();
    process.emit('SIGTERM');
    expect([stop.reason, exits]).toEqual(['SIGTERM', []]);
    process.emit('SIGTERM');
    expect(exits).toEqual([1]);
  });

  it.each([
    ['that npm forwards too counts once', Infinity, []],
    ['that comes later ends the process', -1, [1]],
  ])('of ^C %s', (_name, sameKeyMs, expected) => {
    const { process, exits } = start(sameKeyMs);
    process.emit('SIGINT');
    process.emit('SIGINT');
    expect(exits).toEqual(expected);
  });
});
