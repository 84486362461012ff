const NAME = 'http_server_request_duration_seconds';
/** Seconds, from a response out of memory to the longest REQUEST_DEADLINE_MS. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];

interface Series {
  readonly labels: string;
  /** Requests of each bucket alone; the last one has those beyond all. */
  readonly counts: number[];
  sum: number;
}

/**
 * The histogram of all requests, in the text format 0.0.4. The library builds a text from the labels at each observation; here
 * each kind of request is looked up, and then only counted.
 */
export class RequestDurations {
  readonly #series = new Map<string, Series>();

  /** Labels are methods, route templates and statuses of ours: nothing that a caller sends. */
  observe(method: string, route: string, status: number, seconds: number): void {
    const key = `${method} ${route} ${status}`;
    const series = this.#series.get(key) ?? this.#add(key, method, route, status);
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    const index = bucket < 0 ? BUCKETS.length : bucket;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += seconds;
  }

  toText(): string {
    const lines = [`# HELP ${NAME} Duration of requests, refused ones included.`, `# TYPE ${NAME} histogram`];
    for (const { labels, counts, sum } of this.#series.values()) {
      let total = 0;
      for (const [index, count] of counts.entries()) {
        total += count;
        lines.push(`${NAME}_bucket{${labels},le="${BUCKETS[index] ?? '+Inf'}"} ${total}`);
      }
      lines.push(`${NAME}_sum{${labels}} ${sum}`, `${NAME}_count{${labels}} ${total}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #add(key: string, method: string, route: string, status: number): Series {
    const labels = `http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"`;
    const series = { labels, counts: Array<number>(BUCKETS.length + 1).fill(0), sum: 0 };
    this.#series.set(key, series);
    return series;
  }
}
