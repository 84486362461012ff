import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { toClock, toMinute } from '../time.js';

/** A series of values for the times of a chart. All series of a chart share one scale. */
export interface Line {
  readonly name: string;
  readonly tone: 'accent' | 'muted' | 'bad';
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

const HEIGHT = 76;
const DARK = '(prefers-color-scheme: dark)';

/** A small plot over the last hour, and its values in words: under the pointer, else the last ones. */
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
  const words = lines.map(({ name, values }) => `${name} ${toFigure(values[index], unit)}`);
  const empty = note ?? (lines.some(({ values }) => values.some((value) => value !== null)) ? null : 'nothing yet');
  return (
    <figure>
      <figcaption class="row between quiet">
        <b>{title}</b>
        <span class="row">
          {empty ??
            lines.map(({ name, tone, values }, each) => (
              <span key={name} class={tone === 'bad' && !values[index] ? '' : `tone-${tone}`}>
                {words[each]}
              </span>
            ))}
          {at !== null && empty === null && times[index] !== undefined && <time>{toClock(times[index] * 1000)}</time>}
        </span>
      </figcaption>
      <div
        ref={place}
        class={empty === null ? 'plot' : 'plot empty'}
        role="img"
        aria-label={`${title}, the last hour. ${empty ?? words.join(', ')}`}
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
    padding: [6, 12, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 }, sync: { key: 'last-hour' } },
    scales: {
      x: { time: true, range: () => [...range()] as [number, number] },
      y: { range: (_plot, _min, max) => [0, Math.max(1, (max ?? 0) * 1.15)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 20,
        gap: 5,
        space: 56,
        values: (_plot, splits) => splits.map((seconds) => toMinute(seconds * 1000)),
      },
      {
        ...axis,
        grid: { stroke: colour('line'), width: 1 },
        // as wide as its longest label
        size: (_plot, labels) => 10 + 7 * Math.max(1, ...(labels ?? []).map(({ length }) => length)),
        gap: 4,
        space: 26,
        values: (_plot, splits) => splits.map(toTick),
      },
    ],
    series: [
      {},
      ...lines.map(({ tone }): uPlot.Series => {
        const line = { stroke: colour(tone), points: { show: false, filter: alone, size: 3 } };
        return tone === 'accent' ? { ...line, width: 1.5, fill: colour('accent-soft') } : { ...line, width: 1 };
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
