import { useState } from 'preact/hooks';
import type { RecentClient } from '../shared/gateway.js';
import { toDuration } from '../shared/time.js';
import { toAppName, toGot } from './apps.js';
import { Shares } from './shares.js';

/** As many as there is room for on one screen. */
const FEW = 4;
const NOW_MS = 1000;

interface Props {
  /** Null until the first answer. */
  readonly clients: readonly RecentClient[] | null;
  readonly now: number;
}

/** The callers by name, and what each got in the last minute. */
export function YourApps({ clients, now }: Props) {
  const [all, setAll] = useState(false);
  const shown = all ? clients : clients?.slice(0, FEW);
  const hidden = (clients?.length ?? 0) - FEW;
  return (
    <section class="card half" aria-labelledby="apps">
      <div class="row between">
        <h2 id="apps">Your apps</h2>
        <p class="quiet">by X-Client-Name; calls of this page do not count</p>
      </div>
      {clients?.length === 0 && <p class="quiet">No app has called in the last hour.</p>}
      {shown && shown.length > 0 && (
        <table class="apps">
          <thead>
            <tr>
              <th scope="col">App</th>
              <th scope="col">calls / min</th>
              <th scope="col">p99</th>
              <th scope="col">responses, last minute</th>
              <th scope="col">last call</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((client) => (
              <tr key={client.name}>
                <th scope="row">{toAppName(client.name)}</th>
                <td>{client.callsPerMinute}</td>
                <td>{client.p99Ms === null ? '–' : `${Math.ceil(client.p99Ms)} ms`}</td>
                <td>
                  <Shares {...client} /> {toGot(client)}
                </td>
                <td>{toAgo(client.lastAt, now)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {hidden > 0 && (
        <button type="button" class="plain" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `${hidden} more`}
        </button>
      )}
    </section>
  );
}

function toAgo(instant: string, now: number): string {
  const ms = now - Date.parse(instant);
  return ms < NOW_MS ? 'now' : `${toDuration(ms)} ago`;
}
