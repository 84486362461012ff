import { describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../test/support/fake-clock.js';
import { keepLines } from '../../test/support/log-lines.js';
import { onClose } from '../../test/support/closing.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { BankDrift } from '../bank/bank-drift.js';
import type { AccountReader, ParsePage } from '../bank/account-reader.js';
import type { Settings } from '../config/settings.js';
import { GatewayError } from '../errors/gateway-error.js';
import { Stopwatch } from '../time/stopwatch.js';
import { BankSource } from './bank-source.js';

type Read = AccountReader['read'];

const PAGE = Buffer.from('{"result":[{"accountId":"a"},{"accountId":"b"}]}');

function begin(read: Read, timeoutMs = 60_000) {
  const clock = new FakeClock(Date.UTC(2026, 10, 21, 8));
  const settings = { SNAPSHOT_READ_TIMEOUT_MS: timeoutMs } as Settings;
  const source = new BankSource({ read } as AccountReader, new BankDrift(keepLines().log), clock, settings);
  const stop = new AbortController();
  return {
    clock,
    stop,
    read: () => source.read({ refreshId: 'id', signal: stop.signal, ownWork: new Stopwatch(clock) }),
  };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

describe('the bank as a source', () => {
  it('dates the snapshot before the first call', async () => {
    const readTwo = async (_id: string, _signal: AbortSignal, parsePage: ParsePage) => {
      await parsePage(1, PAGE);
      begun.clock.advance(1500);
      return { accounts: 2, pages: 1, complete: true };
    };
    const begun = begin(readTwo);
    const snapshot = await begun.read();
    onClose(() => snapshot.list.end());
    expect([snapshot.pages, snapshot.source]).toEqual([1, 'bank']);
    expect(snapshot).toMatchObject({ size: 2, asOf: '2026-11-21T08:00:00.000Z', durationMs: 1500, complete: true });
  });

  it('fails after SNAPSHOT_READ_TIMEOUT_MS', async () => {
    const { read } = begin((_id, signal) => untilAborted(signal), 30);
    const error = await rejectionOf(read);
    expect([error.code, error.detail]).toEqual(['bank-timeout', expect.stringContaining('SNAPSHOT_READ_TIMEOUT_MS')]);
  });

  it('fails with the reason of its signal when the process stops', async () => {
    const { read, stop } = begin((_id, signal) => untilAborted(signal));
    const reading = rejectionOf(read);
    stop.abort(new GatewayError('stopping', 'stopping'));
    expect((await reading).code).toBe('stopping');
  });

  it('fails with the error of the bank', async () => {
    const { read } = begin(async () => {
      throw new GatewayError('bank-error', 'as scripted');
    });
    expect((await rejectionOf(read)).code).toBe('bank-error');
  });
});
