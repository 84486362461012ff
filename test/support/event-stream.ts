import { get, type IncomingMessage } from 'node:http';
import { until } from './until.js';

/** One event as it came; comments are told as `comment`. */
export interface SeenEvent {
  readonly type: string | null;
  readonly id: string | null;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into it as they like
  readonly data: any;
  readonly retry: number | null;
  readonly comment: boolean;
}

export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** All that came, in order, comments and bare ids too. */
  readonly all: readonly SeenEvent[];
  /** What a page gets to see. */
  readonly events: readonly SeenEvent[];
  /** As it came. */
  readonly text: string;
  /** It is over. */
  readonly ended: boolean;
  /** Waits for the event with this number, from 0, among those that a page sees. */
  event(index: number): Promise<SeenEvent>;
  /** Leaves. */
  close(): void;
}

const open = new Set<EventStream>();

/** For afterEach. */
export function closeStreams(): void {
  for (const stream of open) stream.close();
}

/** Listens as an `EventSource` does, on a connection of its own. */
export function openStream(url: string, headers: Record<string, string> = {}): Promise<EventStream> {
  const { promise, resolve, reject } = Promise.withResolvers<EventStream>();
  const request = get(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, (response) => {
    let text = '';
    let ended = false;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => (text += chunk));
    response.on('error', () => undefined);
    response.on('close', () => (ended = true));
    const stream: EventStream = {
      status: response.statusCode ?? 0,
      headers: response.headers,
      get all() {
        return parseEvents(text);
      },
      get events() {
        return stream.all.filter(({ data }) => data !== undefined);
      },
      get text() {
        return text;
      },
      get ended() {
        return ended;
      },
      event: async (index) => {
        await until(() => stream.events.length > index);
        return stream.events[index] as SeenEvent;
      },
      close: () => {
        open.delete(stream);
        request.destroy();
      },
    };
    open.add(stream);
    resolve(stream);
  });
  request.on('error', reject);
  return promise;
}

/** By the rules of server-sent events, but for what has not come to its empty line. */
export function parseEvents(text: string): SeenEvent[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks.flatMap((block) => {
    const fields: Record<string, string> = {};
    let comment = false;
    for (const line of block.split('\n').filter((each) => each !== '')) {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === '') comment = true;
      else fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
    }
    const { event = null, id = null, data, retry } = fields;
    if (!comment && Object.keys(fields).length === 0) return [];
    return [
      {
        type: event,
        id,
        data: data === undefined ? undefined : (JSON.parse(data) as unknown),
        retry: retry === undefined ? null : Number(retry),
        comment,
      },
    ];
  });
}
