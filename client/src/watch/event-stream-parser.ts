/** What stands between two empty lines of a stream; null what it does not say. An `id` may come alone. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string | null;
  readonly id: string | null;
}

interface StreamListener {
  onEvent(event: StreamEvent): void;
  /** How long to wait before the next connection. */
  onRetry(ms: number): void;
}

/** Reads `text/event-stream` as the HTML standard says (§9.2.6), from pieces cut anywhere. */
export class EventStreamParser {
  readonly #listener: StreamListener;
  #rest = '';
  #type = '';
  #data: string[] = [];
  #id: string | null = null;

  constructor(listener: StreamListener) {
    this.#listener = listener;
  }

  push(text: string): void {
    // a CR at the end may be half of a line end
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#read(line);
  }

  #read(line: string): void {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#type = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.#listener.onRetry(Number(value));
  }

  #end(): void {
    const event = { type: this.#type, data: this.#data.length > 0 ? this.#data.join('\n') : null, id: this.#id };
    this.#type = '';
    this.#data = [];
    this.#id = null;
    if (event.data !== null || event.id !== null) this.#listener.onEvent(event);
  }
}
