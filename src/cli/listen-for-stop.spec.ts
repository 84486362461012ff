import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { listenForStop } from './listen-for-stop.js';

function start(sameKeyMs?: number) {
  const exits: number[] = [];
  const process = Object.assign(new EventEmitter(), { exit: (code: number) => exits.push(code) });
  return { process, exits, stop: listenForStop(process as unknown as NodeJS.Process, sameKeyMs) };
}

describe('a second signal', () => {
  it('SIGTERM ends the process at once', () => {
    const { process, exits, stop } = start();
    process.emit('SIGTERM');
    expect([stop.reason, exits]).toEqual(['SIGTERM', []]);
    process.emit('SIGTERM');
    expect(exits).toEqual([1]);
  });

  it('a ^C that npm forwards too counts once; a later one ends the process', async () => {
    const { process, exits } = start(20);
    process.emit('SIGINT');
    process.emit('SIGINT');
    expect(exits).toEqual([]);
    await delay(30);
    process.emit('SIGINT');
    expect(exits).toEqual([1]);
  });
});
