import type { SnapshotEvent, StateEvent } from '../generated/types.gen.js';
import type { StreamEvent } from './event-stream-parser.js';
import type { FeedMessage } from './watch-events.js';

/** What an event of the stream says; null for one without a meaning here: `stopping`, or what a newer gateway may send. */
export function toFeedMessage({ type, data, id: own }: StreamEvent, id: string | null): FeedMessage | null {
  const known = toKnown(type, data, id);
  if (known) return known;
  return own === null ? null : { type: 'id', id };
}

function toKnown(type: string, data: string | null, id: string | null): FeedMessage | null {
  if (data === null) return null;
  if (type === 'reset') return { type, id };
  if (type !== 'snapshot' && type !== 'state') return null;
  const event = toObject(data);
  if (event === null) return null;
  // the gateway's own words, in the form of docs/api.md#the-change-feed
  return type === 'snapshot' ? { type, id, event: event as SnapshotEvent } : { type, id, event: event as StateEvent };
}

function toObject(data: string): object | null {
  try {
    const value = JSON.parse(data) as unknown;
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
