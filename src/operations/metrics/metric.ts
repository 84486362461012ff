/** The value of a sample; a sample with the value null is omitted. */
export type Value = number | boolean | null;

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: Value;
  /** Suffix for the parts of a histogram. */
  readonly suffix?: string;
}

/** A metric with its samples, in the Prometheus text format 0.0.4. */
export function toText(
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  samples: readonly Sample[],
): string {
  const lines = samples
    .filter(({ value }) => value !== null)
    .map(({ labels, value, suffix = '' }) => `${name}${suffix}${toLabels(labels)} ${Number(value)}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function toLabels(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

const escape = (value: string): string => value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');

/** Label values, in the order of the label names. They are our own: nothing comes from a caller. */
type LabelValues = readonly (string | number)[];

interface Node<T> {
  readonly next: Map<string | number, Node<T>>;
  data?: T;
}

/** The series of a metric, nested by label, so that an observation builds no string. */
class Series<T> {
  readonly all: { readonly labels: Sample['labels']; readonly data: T }[] = [];
  readonly #root: Node<T> = { next: new Map() };

  constructor(
    private readonly labelNames: readonly string[],
    private readonly create: () => T,
  ) {}

  find(values: LabelValues): T {
    let node = this.#root;
    for (const value of values) {
      let next = node.next.get(value);
      if (!next) node.next.set(value, (next = { next: new Map() }));
      node = next;
    }
    return (node.data ??= this.#add(values));
  }

  #add(values: LabelValues): T {
    const labels = Object.fromEntries(this.labelNames.map((name, index) => [name, values[index] ?? '']));
    const data = this.create();
    this.all.push({ labels, data });
    return data;
  }
}

export class Counter {
  readonly #series: Series<{ count: number }>;

  constructor(
    private readonly name: string,
    private readonly help: string,
    labelNames: readonly string[],
  ) {
    this.#series = new Series(labelNames, () => ({ count: 0 }));
  }

  add(labels: LabelValues, count = 1): void {
    this.#series.find(labels).count += count;
  }

  toText(): string {
    const samples = this.#series.all.map(({ labels, data }) => ({ labels, value: data.count }));
    return toText(this.name, 'counter', this.help, samples);
  }
}

/** A histogram of durations, seconds. */
export class Histogram {
  /** `counts` has the observations of each bucket alone; the last one has those above all bounds. */
  readonly #series: Series<{ readonly counts: number[]; sum: number }>;

  constructor(
    private readonly name: string,
    private readonly help: string,
    labelNames: readonly string[],
    private readonly buckets: readonly number[],
  ) {
    this.#series = new Series(labelNames, () => ({ counts: Array<number>(buckets.length + 1).fill(0), sum: 0 }));
    if (labelNames.length === 0) this.#series.find([]);
  }

  observe(labels: LabelValues, seconds: number): void {
    const series = this.#series.find(labels);
    const bucket = this.buckets.findIndex((bound) => seconds <= bound);
    const index = bucket < 0 ? this.buckets.length : bucket;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += seconds;
  }

  toText(): string {
    const samples = this.#series.all.flatMap(({ labels, data }) => {
      let total = 0;
      const buckets = data.counts.map((count, index) => {
        total += count;
        return { suffix: '_bucket', labels: { ...labels, le: this.buckets[index] ?? '+Inf' }, value: total };
      });
      return [...buckets, { suffix: '_sum', labels, value: data.sum }, { suffix: '_count', labels, value: total }];
    });
    return toText(this.name, 'histogram', this.help, samples);
  }
}
