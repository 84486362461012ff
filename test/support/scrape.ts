import type { Gateway } from './gateway.js';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** The sum of all samples with this name and these labels, or null without one. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | null;
}

/** Parses the text format of Prometheus. @throws Error at a malformed line */
export function parseMetrics(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const samples = lines.map((line) => {
    const [, name, labels = '', value] = /^([a-z_A-Z0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a sample: ${line}`);
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
  });
  return {
    text,
    samples,
    value: (name, labels = {}) => {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, wanted]) => sample.labels[key] === wanted),
      );
      return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

/** Scrapes this gateway like Prometheus. */
export async function scrape(gateway: Pick<Gateway, 'get'>): Promise<Scrape> {
  const { status, text } = await gateway.get('/metrics');
  if (status !== 200) throw new Error(`/metrics answered ${status}`);
  return parseMetrics(text);
}
