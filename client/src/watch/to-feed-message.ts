import type { StreamEvent } from './event-stream-parser.js';
import type { FeedMessage } from './watch-events.js';

/** What an event of the stream says; null for one without a meaning here: `stopping`, or what a newer gateway may send. */
export function toFeedMessage({ type, data, id: own }: StreamEvent, id: string | null): FeedMessage | null {
  if (type === 'reset' && data !== null) return { type, id };
  const event = type === 'snapshot' || type === 'state' ? toObject(data) : null;
  // the gateway's own words, in the form of docs/api.md#the-change-feed
  if (event) return { type, id, event } as FeedMessage;
  return own === null ? null : { type: 'id', id };
}

function toObject(data: string | null): object | null {
  try {
    const value = JSON.parse(data ?? 'null') as unknown;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
