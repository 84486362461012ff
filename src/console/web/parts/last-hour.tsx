import type { Recent, RecentPoint } from '../gateway.js';
import type { Answer } from '../use-answer.js';
import { Chart, type Line } from './chart.js';

const SPAN_SECONDS = 3600;
/** A gateway that has just started would show a line at the edge. */
const SHORTEST_SECONDS = 600;

/** Latency, errors and the bank over the last hour. */
export function LastHour({ answer: { data, problem } }: { readonly answer: Answer<Recent> }) {
  const points = data?.points ?? [];
  const until = points.length > 0 ? Date.parse(points.at(-1)?.at ?? '') / 1000 : Date.now() / 1000;
  const times = points.map(({ at }) => Date.parse(at) / 1000);
  const span = Math.min(Math.max(until - (times[0] ?? until), SHORTEST_SECONDS), SPAN_SECONDS);
  const range = [until - span, until] as const;
  const line = (
    name: string,
    tone: Line['tone'],
    value: (point: RecentPoint) => number | null,
    kind: Line['kind'] = 'line',
  ): Line => ({ name, tone, kind, values: points.map(value) });
  const note = data ? null : problem ? 'Not known.' : 'Looking…';
  const common = { times, range, note };
  return (
    <section aria-labelledby="last-hour">
      <h2 id="last-hour" class="small">
        The last hour
      </h2>
      <Chart
        title="Latency"
        unit="ms"
        {...common}
        lines={[line('median', 'accent', (point) => point.p50Ms), line('99 %', 'muted', (point) => point.p99Ms)]}
      />
      <Chart
        title="Requests"
        unit=""
        {...common}
        lines={[
          line('in 10 s', 'accent', ({ requests }) => requests),
          line('errors', 'bad', ({ errors }) => errors, 'bars'),
        ]}
      />
      <Chart
        title="Bank"
        unit="ms"
        {...common}
        lines={[
          line('median', 'accent', ({ bankP50Ms }) => bankP50Ms),
          line('failed', 'bad', ({ bankFailures }) => bankFailures, 'bars'),
        ]}
      />
    </section>
  );
}
