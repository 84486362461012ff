import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FakeClock } from '../../test/support/fake-clock.js';
import { rejectionOf } from '../../test/support/rejection-of.js';
import { account, LocalList, snapshotOf } from '../../test/support/sample-snapshots.js';
import type { Settings } from '../config/settings.js';
import { ListEnded } from '../snapshot/list-thread.js';
import type { Snapshot } from '../snapshot/snapshot-source.js';
import type { SnapshotService } from '../cache/snapshot-service.js';
import { Downloads } from './downloads.js';
import { EncodedResponses } from './encoded-responses.js';
import { Responder } from './responder.js';

type Sent = { readonly headers: Record<string, string>; readonly body: Buffer | Readable };

const NDJSON = { kind: 'ndjson', selection: { filters: {}, sort: 'name' } } as const;

/** A responder that gets these snapshots in turn, and the responses that it sends. */
function begin(snapshots: Snapshot[], deadlineMs = 15_000) {
  const get = () => {
    const snapshot = snapshots.length > 1 ? snapshots.shift() : snapshots[0];
    return { snapshot, ageMs: 0, stale: false, cache: 'hit', failure: null, retryInMs: 0 };
  };
  const settings = {
    SNAPSHOT_FRESH_MS: 10_000,
    SNAPSHOT_MAX_AGE_MS: 5000,
    REQUEST_DEADLINE_MS: deadlineMs,
  } as Settings;
  const cache = { get } as unknown as SnapshotService;
  const clock = new FakeClock();
  const responder = new Responder(cache, new EncodedResponses(settings), new Downloads(), settings, clock);
  const sent: Sent[] = [];
  const reply = {
    headers: (headers: Record<string, string>) => ({ send: (body: Sent['body']) => sent.push({ headers, body }) }),
  };
  const to = (headers: Record<string, string>) =>
    [
      {
        headers,
        logFields: { startedAt: performance.now() },
        callerLeft: new AbortController().signal,
      } as FastifyRequest,
      reply as unknown as FastifyReply,
    ] as const;
  const send = () => responder.sendJson(...to({}), { kind: 'totals', filters: {} });
  const download = async () => {
    await responder.sendExport(...to({ 'accept-encoding': 'gzip' }), NDJSON);
    return sent.at(-1) as { readonly headers: Record<string, string>; readonly body: Readable };
  };
  return { clock, send, download, sent };
}

describe('a response', () => {
  it('has an Age that includes the time to build it, and a max-age of at most the maximum age of the snapshot', async () => {
    const slow = async (...args: Parameters<LocalList['document']>) => {
      clock.advance(1100);
      return new LocalList([]).document(...args);
    };
    const askedAt = new FakeClock().now();
    const list = Object.assign(new LocalList([]), { document: slow });
    const { clock, send, sent } = begin([{ ...snapshotOf([]), askedAt, list }]);
    await send();
    expect(sent[0]?.headers).toMatchObject({ age: '1', 'cache-control': 'private, max-age=5' });
  });

  it('uses the current list if its own was replaced and has ended', async () => {
    const ended = Object.assign(new LocalList([]), { document: () => Promise.reject(new ListEnded()) });
    const old = { ...snapshotOf([]), list: ended };
    const { send, sent } = begin([old, snapshotOf([account()])]);
    await send();
    expect(sent).toHaveLength(1);
    await expect(begin([old]).send()).rejects.toBeInstanceOf(ListEnded);
  });

  it('is an error if the list does not answer within the deadline', async () => {
    const busy = Object.assign(new LocalList([]), { document: () => new Promise<never>(() => undefined) });
    const { send, sent } = begin([{ ...snapshotOf([]), list: busy }], 50);
    expect(await rejectionOf(async () => send())).toMatchObject({ code: 'overloaded', retryAfterMs: 1000 });
    expect(sent).toEqual([]);
  });
});

describe('downloads', () => {
  it('are compressed, at most 2 at once; further ones are sent uncompressed', async () => {
    // more than the buffers hold: a download is not read to its end before somebody takes it
    const accounts = Array.from({ length: 200 }, (_, index) =>
      account({ id: `account-${index}`, name: randomBytes(2000).toString('hex') }),
    );
    const { download } = begin([snapshotOf(accounts)]);
    const [first, second, third] = [await download(), await download(), await download()];
    const encodingOf = ({ headers }: { headers: Record<string, string> }) => headers['content-encoding'];
    expect([first, second, third].map(encodingOf)).toEqual(['gzip', 'gzip', undefined]);
    first.body.resume();
    await once(first.body, 'close');
    const fourth = await download();
    expect(encodingOf(fourth)).toBe('gzip');
    second.body.destroy();
    await once(second.body, 'close');
    const [line] = Buffer.concat(await third.body.toArray())
      .toString()
      .split('\n');
    expect(JSON.parse(String(line))).toMatchObject({ id: expect.stringMatching(/^account-\d+$/) });
    const fifth = await download();
    expect(encodingOf(fifth)).toBe('gzip');
    // an open download keeps a timer
    for (const { body } of [fourth, fifth]) body.destroy();
  });
});
