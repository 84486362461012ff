import { Counter, Gauge, type Registry } from '@prometheus-io/client';

type Labels = Readonly<Record<string, string>>;
/** One value of a figure with labels. */
type Labelled<T> = readonly [labels: Labels, value: T];
type Read<T> = () => T | Promise<T>;

/** Adds figures that others keep, and that are read at the moment of the scrape. Names go without their prefix. */
export class ScrapedFigures {
  constructor(private readonly registry: Registry) {}

  /** @param read gives null where there is no value, so that it is left out */
  gauge(name: string, help: string, read: Read<number | null>): void {
    this.labelledGauge(name, help, [], async () => [[{}, await read()]]);
  }

  /** @param read gives null for labels that have no value now */
  labelledGauge(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: Read<readonly Labelled<number | null>[]>,
  ): void {
    const gauge = new Gauge<string>({
      ...toConfiguration(name, help, labelNames),
      async collect() {
        const values = await read();
        this.reset();
        // without labels the library makes it 0 by itself
        if (labelNames.length === 0) this.remove();
        for (const [labels, value] of values) if (value !== null) this.set({ ...labels }, value);
      },
    });
    this.registry.registerMetric(gauge);
  }

  /** One gauge for each state, of which the present one is 1. */
  stateSet<T extends string>(name: string, help: string, label: string, states: readonly T[], read: Read<T>): void {
    this.labelledGauge(name, help, [label], async () => {
      const present = await read();
      return states.map((state) => [{ [label]: state }, Number(state === present)]);
    });
  }

  /** @param name without `_total` */
  counter(name: string, help: string, labelNames: readonly string[], read: () => readonly Labelled<number>[]): void {
    const counter = new Counter<string>({
      ...toConfiguration(`${name}_total`, help, labelNames),
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc({ ...labels }, value);
      },
    });
    this.registry.registerMetric(counter);
  }
}

const toConfiguration = (name: string, help: string, labelNames: readonly string[]) => ({
  name: `accounts_gateway_${name}`,
  help,
  labelNames: [...labelNames],
  // not the one of the library, which all apps of a process would share
  registers: [],
});
