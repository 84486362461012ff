import { expect, it } from '@jest/globals';
import { shareFeed, type Sharing } from '../../client/src/watch/share-feed.js';
import type { FeedMessage } from '../../client/src/watch/watch-events.js';

/** A tab that never gets the lock, and what it hears on the channel; real tabs are in tabs-share-one-connection. */
function follow() {
  const told: FeedMessage[] = [];
  const end = new AbortController();
  let hear: (message: unknown) => void = () => undefined;
  const sharing: Sharing = {
    locks: {
      request: (_name, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
    },
    openChannel: () => ({
      addEventListener: (_type, listener) => {
        hear = (data) => listener({ data: data as never });
      },
      postMessage: () => undefined,
      close: () => undefined,
    }),
  };
  const feed = { url: 'http://127.0.0.1/api/v1/events', fetch, headers: new Headers() };
  const ended = shareFeed(feed, (message) => told.push(message), end.signal, sharing);
  return { told, hear: (message: unknown) => hear(message), end: () => (end.abort(), ended) };
}

const event = { asOf: '2026-11-21T08:00:00.000Z', stale: false, complete: true, accounts: 3, totalsChanged: false };
const snapshot = { ...event, added: [], changed: [], removed: [] };

it('a tab that hears an event before the leader presents itself is told all the same that it is connected', async () => {
  const tab = follow();
  tab.hear({ type: 'told', message: { type: 'snapshot', id: 'a', event: snapshot } });
  tab.hear({ type: 'present', known: { id: 'a', snapshot, state: null, connected: true } });
  expect(tab.told.map(({ type }) => type)).toEqual(['snapshot', 'connection']);
  expect(tab.told[1]).toEqual({ type: 'connection', connected: true });
  await tab.end();
});

it('its twin: one that has heard nothing is told all that the leader knows', async () => {
  const tab = follow();
  tab.hear({ type: 'present', known: { id: 'a', snapshot, state: null, connected: true } });
  expect(tab.told.map(({ type }) => type)).toEqual(['connection', 'snapshot']);
  await tab.end();
});
