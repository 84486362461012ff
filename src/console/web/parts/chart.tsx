import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { toClock } from '../time.js';

/** A row of values for the times of a chart. */
export interface Line {
  readonly name: string;
  readonly tone: 'accent' | 'muted' | 'bad';
  /** Bars have a scale of their own: counts beside durations. */
  readonly kind: 'line' | 'bars';
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: string;
  readonly unit: string;
  readonly times: readonly number[];
  readonly range: readonly [number, number];
  readonly lines: readonly Line[];
  /** Why there is nothing to see, or null. */
  readonly note: string | null;
}

const HEIGHT = 84;
const DARK = '(prefers-color-scheme: dark)';

/** A small plot over the last hour. What it shows is also said in words, for the moment under the pointer or the last one. */
export function Chart({ title, unit, times, range, lines, note }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const latest = useRef({ times, range, lines });
  latest.current = { times, range, lines };

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(
        toOptions(element, latest.current.lines, () => latest.current.range, setAt),
        toData(latest.current),
        element,
      );
    };
    const scheme = window.matchMedia(DARK);
    const sizes = new ResizeObserver(() => {
      if (!plot.current) draw();
      else if (plot.current.width !== element.clientWidth)
        plot.current.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    sizes.observe(element);
    scheme.addEventListener('change', draw);
    return () => {
      sizes.disconnect();
      scheme.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => plot.current?.setData(toData({ times, lines })), [times.at(-1), times.length, range[1]]);

  const index = at !== null && at < times.length ? at : times.length - 1;
  const words = lines.map(
    ({ name, kind, values }) => `${name} ${toFigure(values[index], kind === 'bars' ? '' : unit)}`,
  );
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-words">
          {note ??
            lines.map(({ name, tone, values }, each) => (
              <span key={name} class={tone === 'bad' && !values[index] ? '' : `tone-${tone}`}>
                {words[each]}
              </span>
            ))}
          {at !== null && note === null && times[index] !== undefined && (
            <time>{toClock(new Date(times[index] * 1000).toISOString())}</time>
          )}
        </span>
      </figcaption>
      <div
        ref={place}
        class={note === null ? 'plot' : 'plot empty'}
        role="img"
        aria-label={`${title}, the last hour. ${note ?? words.join(', ')}`}
      />
    </figure>
  );
}

const toData = ({ times, lines }: Pick<Props, 'times' | 'lines'>): uPlot.AlignedData =>
  [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;

function toFigure(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return '–';
  const text = value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toPrecision(2);
  return unit === '' ? text : `${text} ${unit}`;
}

function toOptions(
  element: HTMLElement,
  lines: readonly Line[],
  range: () => readonly [number, number],
  onMove: (index: number | null) => void,
): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: colour('muted'), font, ticks: { show: false }, border: { show: false } };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [6, 6, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 }, sync: { key: 'last-hour' } },
    scales: {
      x: { time: true, range: () => [...range()] as [number, number] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 0) * 1.15)] },
      bars: { range: (_plot, _min, max) => [0, Math.max(4, (max ?? 0) * 2)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 20, gap: 5, space: 70, values: (_plot, splits) => splits.map(toHour) },
      {
        ...axis,
        grid: { stroke: colour('line'), width: 1 },
        size: 34,
        gap: 4,
        space: 26,
        values: (_plot, splits) => splits.map(toTick),
      },
    ],
    series: [
      {},
      ...lines.map(({ tone, kind }): uPlot.Series => {
        const stroke = colour(tone);
        const common = { stroke, points: { show: false } };
        if (kind === 'bars') {
          const paths = uPlot.paths.bars?.({ size: [0.9, 6, 2], align: 1 });
          return { ...common, scale: 'bars', fill: stroke, width: 0, ...(paths && { paths }) };
        }
        const line = { stroke, points: { show: false, filter: alone, size: 3 } };
        return tone === 'accent' ? { ...line, width: 1.5, fill: colour('accent-soft') } : { ...line, width: 0.7 };
      }),
    ],
    hooks: { setCursor: [({ cursor }) => onMove(cursor.idx ?? null)] },
  };
}

/** Values between gaps, which no line reaches: a gateway with few callers has little else. */
const alone: uPlot.Series.Points.Filter = (plot, series) => {
  const values = plot.data[series] ?? [];
  const known = (index: number) => typeof values[index] === 'number';
  return [...values.keys()].filter((index) => known(index) && !known(index - 1) && !known(index + 1));
};

const toTick = (value: number): string => (value >= 1000 ? `${value / 1000}k` : String(value));

const toHour = (seconds: number): string => toClock(new Date(seconds * 1000).toISOString()).slice(0, 5);
