/** The value of a sample; a sample whose value is null is left out. */
export type Value = number | boolean | null;

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: Value;
  /** For the parts of a histogram. */
  readonly suffix?: string;
}

/** A metric with its samples in the text format 0.0.4 of Prometheus. */
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

/** The values of labels, in the order of their names. They are ours: nothing that a caller sends. */
type LabelValues = readonly (string | number)[];

/** The key of a series. The library builds a text from the labels at each observation; here a series is only looked up. */
const toKey = (labels: LabelValues): string => labels.join('\n');

function readKey(names: readonly string[], key: string): Sample['labels'] {
  const values = key.split('\n');
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

export class Counter {
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly help: string,
    private readonly labelNames: readonly string[],
  ) {}

  add(labels: LabelValues, count = 1): void {
    const key = toKey(labels);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
  }

  toText(): string {
    const samples = [...this.#counts].map(([key, value]) => ({ labels: readKey(this.labelNames, key), value }));
    return toText(this.name, 'counter', this.help, samples);
  }
}

/** A histogram of durations, seconds. */
export class Histogram {
  readonly #series = new Map<string, { readonly counts: number[]; sum: number }>();

  constructor(
    private readonly name: string,
    private readonly help: string,
    private readonly labelNames: readonly string[],
    private readonly buckets: readonly number[],
  ) {
    if (labelNames.length === 0) this.#find([]);
  }

  observe(labels: LabelValues, seconds: number): void {
    const series = this.#find(labels);
    const bucket = this.buckets.findIndex((bound) => seconds <= bound);
    const index = bucket < 0 ? this.buckets.length : bucket;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += seconds;
  }

  toText(): string {
    const samples = [...this.#series].flatMap(([key, { counts, sum }]) => {
      const labels = readKey(this.labelNames, key);
      let total = 0;
      const buckets = counts.map((count, index) => {
        total += count;
        return { suffix: '_bucket', labels: { ...labels, le: this.buckets[index] ?? '+Inf' }, value: total };
      });
      return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
    });
    return toText(this.name, 'histogram', this.help, samples);
  }

  /** `counts` has the observations of each bucket alone; the last one those beyond all. */
  #find(labels: LabelValues) {
    const key = toKey(labels);
    const known = this.#series.get(key);
    if (known) return known;
    const created = { counts: Array<number>(this.buckets.length + 1).fill(0), sum: 0 };
    this.#series.set(key, created);
    return created;
  }
}
