import type { RecentClient } from '../shared/gateway.js';
import { toRejected } from './apps.js';

const WIDTH = 90;
/** Minimum size of a share, so that one failed call among many is visible. */
const LEAST = 3;

/** A bar with the shares of an app's results in the last minute. */
export function Shares({ client }: { readonly client: RecentClient }) {
  const { current, stale, errors, callsPerMinute } = client;
  let x = 0;
  const rects = Object.entries({ current, stale, rejected: toRejected(client, callsPerMinute), errors }).map(
    ([name, count]) => {
      const width = count === 0 ? 0 : Math.max(LEAST, (count / callsPerMinute) * WIDTH);
      const from = Math.min(x, WIDTH - width);
      x += width;
      return width > 0 && <rect key={name} class={`got-${name}`} x={from} width={width} height="8" />;
    },
  );
  return (
    <svg class="shares" width={WIDTH} height="8" aria-hidden="true">
      {rects}
    </svg>
  );
}
