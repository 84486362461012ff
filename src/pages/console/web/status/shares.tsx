interface Props {
  readonly current: number;
  readonly stale: number;
  readonly errors: number;
}

const WIDTH = 90;
/** Minimum size of a share, so that one failed call among many is visible. */
const LEAST = 3;

/** What calls got, as a bar in the shares of current, copy and failed. */
export function Shares({ current, stale, errors }: Props) {
  const all = current + stale + errors;
  if (all === 0) return <svg class="shares none" width={WIDTH} height="8" aria-hidden="true" />;
  let x = 0;
  const rects = Object.entries({ current, stale, errors }).map(([name, count]) => {
    const width = count === 0 ? 0 : Math.max(LEAST, (count / all) * WIDTH);
    const from = Math.min(x, WIDTH - width);
    x += width;
    return width > 0 && <rect key={name} class={`got-${name}`} x={from} width={width} height="8" />;
  });
  return (
    <svg class="shares" width={WIDTH} height="8" aria-hidden="true">
      {rects}
    </svg>
  );
}
