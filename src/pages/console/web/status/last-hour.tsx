import type { ProblemEntry, Recent } from '../shared/gateway.js';
import { toMinute } from '../shared/time.js';
import { groupEvents } from './event-groups.js';
import { Events } from './events.js';
import { toMinutes, toSummary, type Minute } from './minutes.js';
import type { Served } from './served.js';

const HEIGHT = 46;
/** Minimum size of a share, so that one failed call among many is visible. */
const LEAST = 3;

interface Props {
  /** Null until the first answer. */
  readonly recent: Recent | null;
  /** What a call would get now. */
  readonly served: Served | 'unknown';
  readonly problems: readonly ProblemEntry[];
  /** Codes of the current problems. */
  readonly current: readonly string[];
  readonly now: number;
}

/** The last hour: what calls got in each minute, and the notable events. */
export function LastHour({ recent, served, problems, current, now }: Props) {
  const minutes = toMinutes(recent ?? { points: [] }, served, now);
  const summary = toSummary(recent);
  return (
    <section class="card half" aria-labelledby="last-hour">
      <div class="row between">
        <h2 id="last-hour">Last hour</h2>
        <p class="quiet">{summary}</p>
      </div>
      <svg
        class="minutes"
        viewBox={`0 0 ${minutes.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`What calls got in each minute. ${summary}`}
      >
        {minutes.map((minute, index) => (
          <Bar key={minute.at} minute={minute} x={index * 10} />
        ))}
      </svg>
      <p class="quiet row between scale">
        <span>{toMinute(minutes[0]?.at ?? now)}</span>
        <span class="legend">
          share of calls each minute:{' '}
          <span>
            <i class="got-current" /> current
          </span>{' '}
          <span>
            <i class="got-stale" /> copy
          </span>{' '}
          <span>
            <i class="got-errors" /> failed
          </span>
        </span>
        <span>now</span>
      </p>
      <Events groups={recent ? groupEvents(recent.events, problems, current, now) : []} known={recent !== null} />
    </section>
  );
}

/** One minute: failed calls at the bottom, copies on them, current data above; a hollow bar without calls. */
function Bar({ minute, x }: { readonly minute: Minute; readonly x: number }) {
  const { current, stale, errors } = minute;
  const all = current + stale + errors;
  const place = { x: x + 0.75, width: 8.5 };
  const tall = (count: number) => (count === 0 ? 0 : Math.max(LEAST, (count / Math.max(all, 1)) * HEIGHT));
  const [failed, copied] = [tall(errors), tall(stale)];
  return (
    <g>
      <title>{toWords(minute)}</title>
      {all === 0 && <rect class="got-none" {...place} y="0.5" height={HEIGHT - 1} />}
      {current > 0 && <rect class="got-current" {...place} y="0" height={HEIGHT} />}
      {stale > 0 && (
        <rect
          class="got-stale"
          {...place}
          y={current > 0 ? HEIGHT - failed - copied : 0}
          height={current > 0 ? copied : HEIGHT}
        />
      )}
      {errors > 0 && <rect class="got-errors" {...place} y={HEIGHT - failed} height={failed} />}
    </g>
  );
}

function toWords({ at, requests, current, stale, errors }: Minute): string {
  if (requests === 0) return `${toMinute(at)}: no calls`;
  const got = [`${current} current`, stale > 0 ? `${stale} copy` : '', errors > 0 ? `${errors} failed` : ''];
  return `${toMinute(at)}: ${got.filter(Boolean).join(', ')}`;
}
