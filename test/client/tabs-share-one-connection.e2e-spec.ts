import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type * as ClientModule from '../../client/src/index.js';
import type * as ShareModule from '../../client/src/watch/share-feed.js';
import { openTab, REMOTE_HOST, startBrowser, startClientPages } from '../support/client-pages.js';
import { closeAll } from '../support/closing.js';
import { hasChromium } from '../support/tools.js';
import { until } from '../support/until.js';

/** What a tab notes of its watch. */
interface Tab {
  told: string[];
  close(): void;
}
declare const tab: Tab;
declare const location: { readonly origin: string };

interface Connection {
  readonly url: string;
  readonly lastEventId: string | undefined;
  readonly response: ServerResponse;
}

const suite = hasChromium() ? describe : describe.skip;

suite('tabs that watch the same', () => {
  let browser: Browser;
  let context: BrowserContext;
  let url: string;
  /** In the order they came. */
  let connections: Connection[];
  const open = new Set<Connection>();
  const [only] = [() => [...open][0]?.response];

  beforeAll(async () => {
    browser = await startBrowser();
    url = await startClientPages((request, response) => {
      if (!request.url?.startsWith('/api/v1/events')) return void response.writeHead(404).end();
      const lastEventId = request.headers['last-event-id']?.toString();
      const connection = { url: request.url, lastEventId, response };
      connections.push(connection);
      open.add(connection);
      response.once('close', () => open.delete(connection));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('retry: 50\n\n');
      if (lastEventId === undefined) send(snapshot('a', 1), response);
    });
  });
  afterAll(async () => {
    await browser.close();
    await closeAll();
  });
  afterEach(async () => {
    await context.close();
    await until(() => open.size === 0);
  });

  const send = (text: string, response = only()) => response?.write(text);
  const snapshot = (id: string, accounts: number, changed: string[] = []) =>
    `id: ${id}\nevent: snapshot\ndata: ${JSON.stringify({ asOf: id, accounts, changed })}\n\n`;

  async function openTabs(count: number, filter: object = {}): Promise<Page[]> {
    connections = [];
    context = await browser.newContext();
    const pages: Page[] = [];
    for (let made = 0; made < count; made += 1) pages.push(await openWatching(filter));
    return pages;
  }

  async function openWatching(filter: object = {}, at = url): Promise<Page> {
    const { page } = await openTab(context, at);
    await page.evaluate(async (filter) => {
      const { createClient } = (await import('/client/src/index.js' as string)) as typeof ClientModule;
      const told: string[] = [];
      const watch = createClient({ baseUrl: '' }).watch(filter, {
        onSnapshot: ({ accounts, changed }) => told.push(`snapshot ${accounts} ${changed.join()}`.trim()),
        onState: ({ code }) => told.push(`state ${code}`),
        onReset: () => told.push('reset'),
        onConnection: (connected) => told.push(connected ? 'connected' : 'away'),
        onError: ({ code }) => told.push(`error ${code}`),
      });
      Object.assign(globalThis, { tab: { told, close: () => watch.close() } });
    }, filter);
    return page;
  }

  const toldTo = (page: Page) => page.evaluate(() => tab.told);
  const untilTold = (page: Page, last: string) =>
    page.waitForFunction((last) => tab.told.at(-1) === last, last, { timeout: 10_000, polling: 20 });

  it('hold one connection, and all are told; one that comes later gets the last known at once', async () => {
    const [first, second] = await openTabs(2);
    if (!first || !second) throw new Error('no tabs');
    await Promise.all([untilTold(first, 'snapshot 1'), untilTold(second, 'snapshot 1')]);
    send('event: state\ndata: {"code":"bank-timeout"}\n\n');
    send(snapshot('b', 2, ['x']));
    await Promise.all([untilTold(first, 'snapshot 2 x'), untilTold(second, 'snapshot 2 x')]);
    const third = await openWatching();
    await untilTold(third, 'snapshot 2');
    // the ids that others were told are no news to it
    expect(await toldTo(third)).toEqual(['connected', 'state bank-timeout', 'snapshot 2']);
    expect(await toldTo(second)).toEqual(['connected', 'snapshot 1', 'state bank-timeout', 'snapshot 2 x']);
    expect(connections).toHaveLength(1);
  });

  it('lose nothing when the tab with the connection is closed: another resumes it', async () => {
    const [leader, second, third] = await openTabs(3);
    if (!leader || !second || !third) throw new Error('no tabs');
    await untilTold(third, 'snapshot 1');
    // an id alone, which no tab shows; what follows it shows that it arrived
    send('id: b\n\nevent: state\ndata: {"stale":false,"code":null,"owner":null}\n\n');
    await Promise.all([untilTold(second, 'state null'), untilTold(third, 'state null')]);
    await leader.close();
    await until(() => connections.length === 2 && open.size === 1);
    expect(connections.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'b']);
    send(snapshot('c', 3, ['y']));
    await Promise.all([untilTold(second, 'snapshot 3 y'), untilTold(third, 'snapshot 3 y')]);
    for (const page of [second, third]) expect((await toldTo(page)).filter((each) => each === 'reset')).toEqual([]);
    // the next in line, by close() of its own
    await second.evaluate(() => tab.close());
    await until(() => connections.length === 3 && open.size === 1);
    send(snapshot('d', 4));
    await untilTold(third, 'snapshot 4');
    expect((await toldTo(second)).at(-1)).toBe('snapshot 3 y');
  });

  it('are told that the connection is away, and that it is back', async () => {
    const [first, second] = await openTabs(2);
    if (!first || !second) throw new Error('no tabs');
    await Promise.all([untilTold(first, 'snapshot 1'), untilTold(second, 'snapshot 1')]);
    only()?.destroy();
    await until(() => connections.length === 2 && open.size === 1);
    send(snapshot('b', 2));
    await untilTold(second, 'snapshot 2');
    for (const page of [first, second]) {
      expect(await toldTo(page)).toEqual([
        'connected',
        'snapshot 1',
        'away',
        'error network-error',
        'connected',
        'snapshot 2',
      ]);
    }
  });

  it('their twin: tabs that watch by other filters have their own', async () => {
    const [first] = await openTabs(1, { currency: 'EUR', q: 'a' });
    const second = await openWatching({ q: 'a', currency: 'EUR' });
    const third = await openWatching({ q: 'b' });
    if (!first) throw new Error('no tabs');
    await Promise.all([first, second, third].map((page) => untilTold(page, 'snapshot 1')));
    expect(connections.map(({ url }) => url).toSorted()).toEqual([
      '/api/v1/events?currency=EUR&q=a',
      '/api/v1/events?q=b',
    ]);
  });

  it('their twin: where the browser gives no locks, each has its own', async () => {
    const elsewhere = url.replace('127.0.0.1', REMOTE_HOST);
    await openTabs(0);
    const pages = [await openWatching({}, elsewhere), await openWatching({}, elsewhere)];
    await Promise.all(pages.map((page) => untilTold(page, 'snapshot 1')));
    expect(connections).toHaveLength(2);
  });

  it('have their own as well where locks are refused', async () => {
    await openTabs(0);
    await context.addInitScript(() => {
      const refused = () => Promise.reject(new DOMException('not here', 'SecurityError'));
      const { locks } = (globalThis as unknown as { navigator: { locks: object } }).navigator;
      Object.assign(Object.getPrototypeOf(locks) as object, { request: refused });
    });
    const pages = [await openWatching(), await openWatching()];
    await Promise.all(pages.map((page) => untilTold(page, 'snapshot 1')));
    expect(connections).toHaveLength(2);
  });

  it('take the connection from a tab that is frozen, and give it back nothing when it thaws', async () => {
    connections = [];
    context = await browser.newContext();
    const share = async (page: Page) =>
      page.evaluate(async () => {
        const { findSharing, shareFeed } = (await import(
          '/client/src/watch/share-feed.js' as string
        )) as typeof ShareModule;
        const told: string[] = [];
        Object.assign(globalThis, { tab: { told, close: () => undefined } });
        const feed = {
          url: `${location.origin}/api/v1/events`,
          fetch: (...all: Parameters<typeof fetch>) => fetch(...all),
          headers: new Headers(),
        };
        const sharing = findSharing();
        if (!sharing) throw new Error('cannot share');
        void shareFeed(
          feed,
          (message) => told.push('event' in message ? JSON.stringify(message.event) : message.type),
          new AbortController().signal,
          sharing,
          500,
        );
      });
    const { page: leader } = await openTab(context, url);
    await share(leader);
    await until(() => open.size === 1);
    const { page: follower } = await openTab(context, url);
    await share(follower);
    await follower.waitForFunction(() => tab.told.length > 1);
    const control = await context.newCDPSession(leader);
    // as a browser does to save energy: no script of it runs
    await control.send('Debugger.enable');
    await control.send('Debugger.pause');
    await until(() => connections.length === 2, 10_000);
    expect(connections[1]?.lastEventId).toBe('a');
    await control.send('Debugger.resume');
    await control.send('Debugger.disable');
    await until(() => open.size === 1, 10_000);
    expect([...open][0]).toBe(connections[1]);
    send(snapshot('b', 7));
    await leader.waitForFunction(() => tab.told.at(-1)?.includes('"accounts":7'));
    expect(connections).toHaveLength(2);
  });
});
