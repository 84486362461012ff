import type { RecentClient } from '../shared/gateway.js';
import { toDuration, toMoment } from '../shared/time.js';
import { toAppName, toGot, toRows } from './apps.js';
import { Shares } from './shares.js';

interface Props {
  /** Null until the first response. */
  readonly clients: readonly RecentClient[] | null;
  readonly isIdle: boolean;
  /** Time of the gateway's response. */
  readonly now: number;
}

/** The callers by name, and what each got in the last minute. */
export function YourApps({ clients, isIdle, now }: Props) {
  return (
    <section class="card half" aria-labelledby="apps">
      <div class="row between">
        <h2 id="apps">Your apps</h2>
        <p class="quiet">{isIdle ? 'last heard' : `last minute to ${toMoment(now, now)}, by X-Client-Name`}</p>
      </div>
      {clients?.length === 0 && <p class="quiet">No calls are recorded in the last hour.</p>}
      {clients && clients.length > 0 && (
        <div class="fill" tabindex={0} role="group" aria-label="Apps, the failing ones first">
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
              {toRows(clients).map((client) => (
                <tr key={client.name}>
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
                    {toMoment(client.lastAt, now)}
                    {client.callsPerMinute === 0 && (
                      <span class="quiet"> {toDuration(now - Date.parse(client.lastAt))} ago</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
