import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Recent } from '../shared/gateway.js';
import { toDuration, toMoment } from '../shared/time.js';
import { toAppName, toGot, toRest, toRows } from './apps.js';
import { Shares } from './shares.js';

interface Props {
  /** Null until the first response. */
  readonly recent: Recent | null;
  readonly isIdle: boolean;
}

/** The callers by name, and what each got in the last minute. What has no space is summed up in the last line. */
export function YourApps({ recent, isIdle }: Props) {
  const clients = recent?.clients ?? null;
  const now = Date.parse(recent?.present.at ?? '');
  const rows = toRows(clients ?? []);
  const { box, fit, height } = useFit(rows.length);
  return (
    <section class="card half" aria-labelledby="apps">
      <div class="row between">
        <h2 id="apps">Your apps</h2>
        {recent && (
          <p class="quiet">{isIdle ? 'last heard' : `last minute to ${toMoment(now, now)}, by X-Client-Name`}</p>
        )}
      </div>
      {rows.length === 0 && clients && <p class="quiet">No calls are recorded in the last hour.</p>}
      {rows.length > 0 && (
        <div class="fit" ref={box} style={{ height }}>
          <table class="apps">
            <thead>
              <tr>
                <th scope="col">App</th>
                {!isIdle && (
                  <>
                    <th scope="col">Calls</th>
                    <th scope="col">Slowest</th>
                    <th scope="col">Got</th>
                  </>
                )}
                <th scope="col">Last call</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((client, index) => (
                <tr key={client.name} class={index < fit ? undefined : 'beyond'}>
                  <th scope="row">{toAppName(client.name)}</th>
                  {!isIdle && (
                    <>
                      <td>{client.callsPerMinute || '–'}</td>
                      <td>{client.p99Ms === null ? '–' : `${Math.ceil(client.p99Ms)} ms`}</td>
                      <td>
                        {client.callsPerMinute > 0 ? <Shares client={client} /> : '–'} {toGot(client)}
                      </td>
                    </>
                  )}
                  <td>
                    {(isIdle || client.callsPerMinute > 0) && toMoment(client.lastAt, now)}
                    {client.callsPerMinute === 0 && (
                      <span class="quiet"> {toDuration(now - Date.parse(client.lastAt))} ago</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {fit < rows.length && <p class="quiet rest">{toRest(rows.slice(fit))}</p>}
        </div>
      )}
    </section>
  );
}

/** Below this width, the page scrolls instead of its boxes. */
const ONE_SCREEN = '(width >= 1000px)';
const MAX_ROWS = 12;

/** How many of the rows fit into their box, beside a last line for the others, and the height that all of them need. */
function useFit(count: number) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<{ readonly fit: number; readonly height?: string }>({ fit: Infinity });
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return undefined;
    const measure = () => {
      if (!matchMedia(ONE_SCREEN).matches) return setSize({ fit: MAX_ROWS });
      const [head = 0, ...rows] = [...current.querySelectorAll('tr')].map((row) => row.getBoundingClientRect().height);
      const row = Math.max(...rows);
      const room = current.clientHeight - head;
      const height = `${Math.ceil(head + count * row)}px`;
      // the last line is a little higher than a row
      setSize({ height, fit: count * row <= room + 1 ? count : Math.max(1, Math.floor((room - 4) / row) - 1) });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [count]);
  return { box, ...size };
}
