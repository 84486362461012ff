import { GatewayProblem } from '../gateway-problem.js';
import { keepConnected } from './feed-connection.js';
import { findSharing, shareFeed } from './share-feed.js';
import type { Feed, FeedMessage, Watch, WatchHandlers } from './watch-events.js';

/**
 * Tells the handlers of changes until `close()`, the signal, or an answer that no repeat would change. Where tabs can share
 * a connection they do; elsewhere (Node, an older browser, a page over http from another machine) it has one of its own.
 */
export function watch(feed: Feed, handlers: WatchHandlers, signal?: AbortSignal): Watch {
  const end = new AbortController();
  const close = () => end.abort();
  if (signal?.aborted) close();
  else signal?.addEventListener('abort', close, { once: true, signal: end.signal });
  const tell = createTeller(handlers, end.signal);
  const sharing = findSharing();
  const alone = () => keepConnected(feed, { lastId: null, bank: null }, tell, end.signal);
  // a frame without an origin has locks and may not use them
  const running = sharing ? shareFeed(feed, tell, end.signal, sharing).catch(alone) : alone();
  // whatever ended it: nothing more is told
  void running.finally(close);
  return { close };
}

function createTeller(handlers: WatchHandlers, ended: AbortSignal): (message: FeedMessage) => void {
  let wasConnected = false;
  return (message) => {
    if (ended.aborted) return;
    if (message.type === 'connection') {
      if (message.connected === wasConnected) return;
      wasConnected = message.connected;
    }
    try {
      call(handlers, message);
    } catch (error) {
      report(error);
    }
  };
}

function call(handlers: WatchHandlers, message: FeedMessage): void {
  switch (message.type) {
    case 'snapshot':
      return handlers.onSnapshot?.(message.event);
    case 'state':
      return handlers.onState?.(message.event);
    case 'reset':
      return handlers.onReset?.();
    case 'connection':
      return handlers.onConnection?.(message.connected);
    case 'error':
      return handlers.onError?.(new GatewayProblem(message.problem));
    case 'id':
  }
}

/** As the platform reports what nobody caught, without an end to the process where that would be it. */
function report(error: unknown): void {
  const { reportError } = globalThis as { reportError?: (error: unknown) => void };
  if (reportError) reportError(error);
  else console.error(error);
}
