/** A series of values. All series of a chart share one scale. */
export interface Line {
  readonly name: string;
  readonly tone: 'accent' | 'muted' | 'bad';
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: string;
  readonly unit: string;
  /** Seconds since 1970, one for each value. */
  readonly times: readonly number[];
  /** First and last second of the plot. */
  readonly range: readonly [number, number];
  readonly lines: readonly Line[];
}

const [WIDTH, HEIGHT] = [300, 50];

/** A small plot over the last hour, and the last values in words. */
export function Chart({ title, unit, times, range, lines }: Props) {
  const most = Math.max(...lines.flatMap(({ values }) => values.map((value) => value ?? -1)));
  const scale = toScale(most);
  const x = (seconds: number) => (((seconds - range[0]) / (range[1] - range[0])) * WIDTH).toFixed(1);
  const y = (value: number) => (HEIGHT * (1 - value / scale)).toFixed(1);

  /** Each run of values is a line. One value alone is a dot. */
  function toPath(values: Line['values']): string {
    const steps = values.map((value, index) => {
      if (value === null) return '';
      const point = `${x(times[index] ?? 0)} ${y(value)}`;
      return (values[index - 1] ?? null) === null ? `M${point}h0` : `L${point}`;
    });
    return steps.join('');
  }

  const words = lines.map(
    ({ name, values }) =>
      `${name} ${toFigure(
        values.findLast((value) => value !== null),
        unit,
      )}`,
  );
  return (
    <figure>
      <figcaption class="row between quiet">
        <b>{title}</b>
        <span>{most < 0 ? 'nothing yet' : words.join(', ')}</span>
      </figcaption>
      {most >= 0 && (
        <>
          <svg
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`${title}, the last hour. ${words.join(', ')}`}
          >
            {lines.map(
              ({ name, tone, values }) =>
                values.some(Boolean) && <path key={name} class={`tone-${tone}`} d={toPath(values)} />,
            )}
          </svg>
          <p class="quiet">0 to {toFigure(scale, unit)}</p>
        </>
      )}
    </figure>
  );
}

/** Upper end of the scale: 1, 2 or 5 times a power of ten. */
function toScale(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power;
}

function toFigure(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return '–';
  const text = value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toPrecision(2);
  return unit === '' ? text : `${text} ${unit}`;
}
