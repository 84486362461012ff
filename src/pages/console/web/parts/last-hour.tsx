import type { ProblemEntry, Recent } from '../gateway.js';
import { groupEvents } from '../event-groups.js';
import { toMinutes, toSummary, type Minute } from '../minutes.js';
import { toMinute } from '../time.js';
import type { Answer } from '../use-answer.js';
import { Chart, type Line } from './chart.js';
import { Events } from './events.js';

const HOUR_SECONDS = 3600;

interface Props {
  readonly answer: Answer<Recent>;
  readonly problems: readonly ProblemEntry[];
  /** Codes of the current problems. */
  readonly current: readonly string[];
  readonly now: number;
}

/** The last hour: responses, latency, events. */
export function LastHour({ answer: { data, problem }, problems, current, now }: Props) {
  const minutes = toMinutes(data ?? { points: [] }, now);
  const points = data?.points ?? [];
  const common = {
    times: points.map(({ at }) => Date.parse(at) / 1000),
    range: [now / 1000 - HOUR_SECONDS, now / 1000] as const,
  };
  const line = (name: string, tone: Line['tone'], value: (point: Recent['points'][number]) => number | null): Line => ({
    name,
    tone,
    values: points.map(value),
  });
  return (
    <section class="card last-hour" aria-labelledby="last-hour">
      <div class="head row between">
        <h2 id="last-hour">Last hour</h2>
        <p class="quiet">{data ? toSummary(data) : problem ? 'Not known' : ''}</p>
      </div>
      <div class="minutes" role="img" aria-label={`What apps got in each minute. ${data ? toSummary(data) : ''}`}>
        {minutes.map((minute) => (
          <span key={minute.at} class={`minute-${minute.state}`} title={toWords(minute)} />
        ))}
      </div>
      <p class="quiet row between">
        <span>{toMinute(minutes[0]?.at ?? now)}</span>
        <span class="legend">
          each bar is a minute: <i class="minute-fresh" /> fresh <i class="minute-stale" /> stale
          <i class="minute-failed" /> failed <i class="minute-none" /> no calls
        </span>
        <span>now</span>
      </p>
      <div class="charts">
        <Chart
          title="Latency"
          unit="ms"
          {...common}
          lines={[line('p50', 'accent', ({ p50Ms }) => p50Ms), line('p99', 'muted', ({ p99Ms }) => p99Ms)]}
        />
        <Chart
          title="Calls in 10 s"
          unit=""
          {...common}
          lines={[line('all', 'accent', ({ requests }) => requests), line('failed', 'bad', ({ errors }) => errors)]}
        />
        <Chart title="Bank" unit="ms" {...common} lines={[line('p50', 'accent', ({ bankP50Ms }) => bankP50Ms)]} />
      </div>
      <Events groups={data ? groupEvents(data.events, problems, current) : []} known={data !== null} />
    </section>
  );
}

function toWords({ at, state, requests, errors }: Minute): string {
  if (state === 'none') return `${toMinute(at)}: no calls`;
  const failed = errors > 0 ? `, ${errors} failed` : '';
  return `${toMinute(at)}: ${requests} ${requests === 1 ? 'call' : 'calls'}${failed || `, ${state}`}`;
}
