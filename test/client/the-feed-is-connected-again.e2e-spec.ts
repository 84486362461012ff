import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createClient, type GatewayProblem, type Watch, type WatchHandlers } from '../../client/src/index.js';
import { keepConnected } from '../../client/src/watch/feed-connection.js';
import type { FeedMessage } from '../../client/src/watch/watch-events.js';
import { closeAll } from '../support/closing.js';
import { until } from '../support/until.js';
import { startWebServer } from '../support/web-server.js';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const watches: Watch[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) watch.close();
  await closeAll();
});

/** A feed that answers each connection by the next of these, the last one again and again. */
async function startFeed(...answers: Answer[]) {
  const requests: IncomingMessage[] = [];
  const open = new Set<ServerResponse>();
  const url = await startWebServer((request, response) => {
    requests.push(request);
    open.add(response);
    response.once('close', () => open.delete(response));
    answers[Math.min(requests.length, answers.length) - 1]?.(response, request);
  });
  return { url, requests, open };
}

/** 200, and these lines; `retry` makes the next connection come soon. */
const stream =
  (text: string, end = false): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`retry: 20\n${text}`);
    if (end) response.end();
  };
const snapshot = (id: string, accounts: number) =>
  `id: ${id}\nevent: snapshot\ndata: ${JSON.stringify({ accounts })}\n\n`;

/** Watches a feed, and notes what it is told. */
function listen(url: string, more: WatchHandlers = {}, signal?: AbortSignal) {
  const told: string[] = [];
  const problems: GatewayProblem[] = [];
  const handlers: WatchHandlers = {
    onSnapshot: ({ accounts }) => told.push(`snapshot ${accounts}`),
    onState: ({ code }) => told.push(`state ${code}`),
    onReset: () => told.push('reset'),
    onConnection: (connected) => told.push(connected ? 'connected' : 'away'),
    onError: (problem) => problems.push(problem),
    ...more,
  };
  const watch = createClient({ baseUrl: url, clientName: 'spec' }).watch({ q: 'ä', currency: 'EUR' }, handlers, {
    signal,
  });
  watches.push(watch);
  return { told, problems, watch };
}

describe('a stream', () => {
  it('is asked for by filter, name and type, and told in order; what is not known is left out', async () => {
    const events = `${snapshot('a', 1)}event: state\ndata: {"code":"bank-timeout"}\n\nevent: reset\ndata: {}\n\nevent: new\ndata: {}\n\nevent: snapshot\ndata: {\n\n`;
    const feed = await startFeed(stream(events + snapshot('b', 2)));
    const { told } = listen(feed.url);
    await until(() => told.length === 5);
    expect(told).toEqual(['connected', 'snapshot 1', 'state bank-timeout', 'reset', 'snapshot 2']);
    const [request] = feed.requests;
    expect(request?.url).toBe('/api/v1/events?currency=EUR&q=%C3%A4');
    expect(request?.headers).toMatchObject({ accept: 'text/event-stream', 'x-client-name': 'spec' });
    expect(request?.headers['last-event-id']).toBeUndefined();
  });

  it('that ends is connected again after the last id, also one that came alone; that is no error', async () => {
    const feed = await startFeed(stream(`${snapshot('a', 1)}id: b\n\n`, true), stream(snapshot('c', 2)));
    const { told, problems } = listen(feed.url);
    await until(() => told.length === 5);
    expect(told).toEqual(['connected', 'snapshot 1', 'away', 'connected', 'snapshot 2']);
    expect(feed.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'b']);
    expect(problems).toEqual([]);
  });

  it('that is cut off is a network error that says when it is tried again', async () => {
    const cut: Answer = (response, request) => {
      stream(snapshot('a', 1))(response, request);
      setTimeout(() => response.destroy(), 20);
    };
    const feed = await startFeed(cut, stream(snapshot('b', 2)));
    const { told, problems } = listen(feed.url);
    await until(() => told.at(-1) === 'snapshot 2');
    expect(problems).toEqual([expect.objectContaining({ code: 'network-error', status: 0 })]);
    expect(problems[0]?.retryAfterMs).toBeGreaterThanOrEqual(20);
    expect(problems[0]?.retryAfterMs).toBeLessThanOrEqual(30);
  });

  it('that does not begin with the trouble there was is well; its twin that does is not', async () => {
    const trouble = (code: string) => `event: state\ndata: {"stale":true,"code":"${code}","owner":"bank"}\n\n`;
    const feed = await startFeed(
      stream(snapshot('a', 1) + trouble('bank-timeout'), true),
      stream(trouble('bank-error')),
      stream(':\n\n'),
    );
    const { told } = listen(feed.url);
    await until(() => told.includes('state bank-error'));
    const started = performance.now();
    await until(() => performance.now() - started > 1500);
    expect(told.at(-1)).toBe('state bank-error');
    for (const response of feed.open) response.end();
    await until(() => told.at(-1) === 'state null');
    expect(feed.requests).toHaveLength(3);
  });

  it('that falls silent is connected again; its twin with a comment now and then is not', async () => {
    const alive: Answer = (response, request) => {
      stream(snapshot('b', 2))(response, request);
      const timer = setInterval(() => response.write(':\n\n'), 50);
      response.once('close', () => clearInterval(timer));
    };
    const feed = await startFeed(stream(snapshot('a', 1)), alive);
    const end = new AbortController();
    const told: FeedMessage[] = [];
    const asked = { url: feed.url, fetch, headers: new Headers() };
    const running = keepConnected(
      asked,
      { lastId: null, bank: null },
      (message) => told.push(message),
      end.signal,
      1000,
    );
    await until(() => feed.requests.length === 2);
    await until(() => feed.open.size === 1);
    const started = performance.now();
    // longer than a silence
    await until(() => performance.now() - started > 1500);
    expect(feed.requests).toHaveLength(2);
    expect(told.map(({ type }) => type)).toEqual([
      'connection',
      'snapshot',
      'connection',
      'error',
      'connection',
      'snapshot',
    ]);
    end.abort();
    await running;
  });

  it('refused with a 503 is tried again when it says', async () => {
    const times: number[] = [];
    const busy: Answer = (response) => {
      times.push(performance.now());
      response.writeHead(503, { 'retry-after': '1' }).end();
    };
    const feed = await startFeed(busy, (response, request) => {
      times.push(performance.now());
      stream(snapshot('a', 1))(response, request);
    });
    const { told, problems } = listen(feed.url);
    await until(() => told.includes('snapshot 1'));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(990);
    expect(problems).toEqual([expect.objectContaining({ code: 'unexpected-answer', status: 503 })]);
  });

  it.each([
    ['0', 250, 2000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 250, 2000],
    // more ms than a timer takes, which would then end at once
    ['31536000', 300_000, 450_000],
  ])('refused with Retry-After: %s is neither tried again at once nor in vain', async (after, least, most) => {
    const feed = await startFeed((response) => {
      response.writeHead(503, { 'content-type': 'text/html', 'retry-after': after }).end('a proxy');
    });
    const { problems } = listen(feed.url);
    await until(() => problems.length > 0);
    expect(problems[0]?.retryAfterMs).toBeGreaterThanOrEqual(least);
    expect(problems[0]?.retryAfterMs).toBeLessThanOrEqual(most);
    expect(feed.requests).toHaveLength(1);
  });

  it('that is no event stream is tried again', async () => {
    const page: Answer = (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
    const random = jest.spyOn(Math, 'random').mockReturnValue(0);
    const feed = await startFeed(stream('\n', true), page, page, stream(snapshot('a', 1)));
    const { told, problems } = listen(feed.url);
    await until(() => told.includes('snapshot 1'));
    expect(problems.map(({ code, retryAfterMs }) => [code, retryAfterMs])).toEqual([
      ['unexpected-answer', 20],
      ['unexpected-answer', 40],
    ]);
    random.mockRestore();
  });
});

describe('a watch ends', () => {
  it('at an answer that no repeat would change, which it tells', async () => {
    const body = JSON.stringify({ code: 'invalid-request', owner: 'caller', detail: 'no', requestId: 'r-1' });
    const feed = await startFeed((response) =>
      response.writeHead(400, { 'content-type': 'application/problem+json' }).end(body),
    );
    const { problems } = listen(feed.url);
    await until(() => problems.length === 1);
    expect(problems[0]).toMatchObject({ code: 'invalid-request', retryAfterMs: null, requestId: 'r-1' });
    await until(() => feed.open.size === 0);
    expect(feed.requests).toHaveLength(1);
  });

  it.each(['close()', 'the signal'])('by %s: the connection is closed, and nothing more is told', async (by) => {
    const end = new AbortController();
    const two: Answer = (response, request) => stream(snapshot('a', 1) + snapshot('b', 2))(response, request);
    const feed = await startFeed(two);
    const told: number[] = [];
    const { watch } = listen(
      feed.url,
      {
        onSnapshot: ({ accounts }) => {
          told.push(accounts);
          if (by === 'close()') watch.close();
          else end.abort();
        },
      },
      end.signal,
    );
    await until(() => told.length === 1 && feed.open.size === 0);
    watch.close();
    expect(told).toEqual([1]);
    expect(feed.requests).toHaveLength(1);
  });

  it('at once when its signal was aborted before: nothing is asked', async () => {
    const feed = await startFeed(stream(snapshot('a', 1)));
    listen(feed.url, {}, AbortSignal.abort());
    const other = listen(feed.url);
    await until(() => other.told.length === 2);
    expect(feed.requests).toHaveLength(1);
  });
});

describe('a handler that throws', () => {
  it('is reported, and the stream goes on', async () => {
    const reported = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const feed = await startFeed(stream(snapshot('a', 1) + snapshot('b', 2)));
    const seen: number[] = [];
    listen(feed.url, {
      onSnapshot: ({ accounts }) => {
        seen.push(accounts);
        throw new Error(`of the app ${accounts}`);
      },
    });
    await until(() => seen.length === 2);
    await until(() => reported.mock.calls.length === 2);
    expect(reported.mock.calls.map(([error]) => (error as Error).message)).toEqual(['of the app 1', 'of the app 2']);
    reported.mockRestore();
    expect(feed.requests).toHaveLength(1);
  });
});
