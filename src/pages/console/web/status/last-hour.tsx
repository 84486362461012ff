import { toGrouped } from '../shared/count.js';
import { toPoints, type Recent } from '../shared/gateway.js';
import { toMinute } from '../shared/time.js';
import { toRejected } from './apps.js';
import { toMinutes, toSummary, type Minute } from './minutes.js';

const HEIGHT = 90;
/** Minimum size of a part, so that one failed call among many is visible. */
const LEAST = 3;

interface Props {
  /** Null until the first response. */
  readonly recent: Recent | null;
  /** Time of the gateway's response. */
  readonly now: number;
}

/** The last hour: a bar for each minute. Its height is the number of calls. */
export function LastHour({ recent, now }: Props) {
  const points = toPoints(recent);
  const minutes = toMinutes(points, now);
  const most = Math.max(...minutes.map(({ requests }) => requests));
  const summary = toSummary(points);
  const hasRejected = minutes.some((minute) => toRejected(minute, minute.requests) > 0);
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
        aria-label={`Calls in each minute. ${summary}`}
      >
        {minutes.map((minute, index) => (
          <Bar key={minute.at} minute={minute} most={most} x={index * 10} />
        ))}
      </svg>
      <p class="quiet row between scale">
        <span>{toMinute(minutes[0]?.at ?? now)}</span>
        <span class="legend">
          <span>height: calls a minute{most > 0 && ` (max ${toGrouped(most)})`}</span>
          <Key name="current" word="current" />
          <Key name="stale" word="copy" />
          <Key name="errors" word="failed" />
          {hasRejected && <Key name="rejected" word="rejected (4xx)" />}
          {minutes.some(hadNoCalls) && <Key name="none" word="no calls" />}
        </span>
        <span>{toMinute(now)}</span>
      </p>
    </section>
  );
}

/** A legend key. */
const Key = ({ name, word }: { readonly name: string; readonly word: string }) => (
  <span>
    <i class={`got-${name}`} /> {word}
  </span>
);

/** One minute, from the bottom: failed calls, the callers' own errors, copies, current data. A tick without calls. */
function Bar({ minute, most, x }: { readonly minute: Minute; readonly most: number; readonly x: number }) {
  const { requests, current, stale, errors } = minute;
  const place = { x: x + 0.5, width: 9 };
  const parts = { errors, rejected: toRejected(minute, requests), stale, current };
  let top = HEIGHT;
  const rects = Object.entries(parts).flatMap(([name, count]) => {
    if (count === 0) return [];
    const height = Math.max(LEAST, (count / most) * (HEIGHT - 2 * LEAST));
    top -= height;
    return [<rect key={name} class={`got-${name}`} {...place} y={top} height={height} />];
  });
  return (
    <g>
      <title>{toWords(minute)}</title>
      {hadNoCalls(minute) ? <path class="got-none" d={`M${place.x} ${HEIGHT - 1}h${place.width}`} /> : rects}
    </g>
  );
}

const hadNoCalls = ({ isRecorded, requests }: Minute) => isRecorded && requests === 0;

function toWords(minute: Minute): string {
  const { at, isRecorded, requests, current, stale, errors } = minute;
  if (!isRecorded) return `${toMinute(at)}: no record`;
  if (requests === 0) return `${toMinute(at)}: no calls`;
  const parts = { current, copy: stale, failed: errors, 'rejected (4xx)': toRejected(minute, requests) };
  const got = Object.entries(parts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []));
  return `${toMinute(at)}: ${got.join(', ')}`;
}
