import { toMoment } from '../shared/time.js';
import type { Incident } from './incident.js';

const WIDTH = 1000;

interface Props {
  readonly copy: NonNullable<Incident['copy']>;
  /** Start of the cause. */
  readonly since: string | null;
  readonly now: number;
}

/** The life of the copy as a timeline: its creation, the start of the trouble, now, and its expiry. */
export function CopyLine({ copy: { asOf, expiresAt }, since, now }: Props) {
  const [from, to] = [Date.parse(asOf), Date.parse(expiresAt)];
  const at = (ms: number) => Math.min(1, Math.max(0, (ms - from) / (to - from)));
  const seconds = (ms: number) => Math.round(ms / 1000);
  const present = at(now);
  const began = since === null ? null : at(Date.parse(since)) * WIDTH;
  return (
    <div class="copy-line">
      <svg
        viewBox={`0 0 ${WIDTH} 16`}
        preserveAspectRatio="none"
        role="meter"
        aria-label="Seconds until the copy expires"
        aria-valuemin={0}
        aria-valuemax={seconds(to - from)}
        aria-valuenow={seconds(Math.max(0, to - now))}
      >
        <rect class="whole" y="4" width={WIDTH} height="8" />
        <rect class="past" y="4" width={present * WIDTH} height="8" />
        {began !== null && <line class="began" x1={began} x2={began} y1="0" y2="16" />}
        <line class="end" x1="0" x2="0" y1="0" y2="16" />
        <line class="end" x1={WIDTH} x2={WIDTH} y1="0" y2="16" />
      </svg>
      <p class="quiet">
        <span>{toMoment(asOf, now)} copy</span>
        {present > 0.12 && present < 0.8 && (
          <b class="now" style={{ left: `${present * 100}%` }}>
            now
          </b>
        )}
        <span>{toMoment(expiresAt, now)} copy expires</span>
      </p>
    </div>
  );
}
