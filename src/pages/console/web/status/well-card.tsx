import { toAccounts } from '../shared/count.js';
import type { RecentClient } from '../shared/gateway.js';
import type { Health } from '../shared/health.js';
import { toMoment } from '../shared/time.js';
import { isRejected, toAppName, toWellText } from './apps.js';
import { toRejections } from './idle.js';
import { NextTask } from './next-task-line.js';
import { toServed } from './served.js';

interface Props {
  readonly health: Health;
  /** The apps that called in the last minute. */
  readonly active: readonly RecentClient[];
  /** Time of the response of /health. */
  readonly now: number;
}

/** The card while everything is healthy: what apps get, and the next task. */
export function WellCard({ health, active, now }: Props) {
  const { accounts, expiresAt } = health.details.snapshot;
  const isServed = toServed(health, now) === 'current';
  const rejected = active.filter(isRejected).map(({ name }) => toAppName(name));
  return (
    <section class="card well card-head" aria-labelledby="headline">
      <div>
        <h1 id="headline">{toWellText(health, active, now)}</h1>
        <p class="lead">
          {isServed && accounts !== null && `${toAccounts(accounts)}. `}
          {isServed && expiresAt !== null && (
            <>
              If the bank fails now, apps keep this copy until <b>{toMoment(expiresAt, now)}</b>.{' '}
            </>
          )}
          {rejected.length > 0 ? `${toRejections(rejected.toSorted())}.` : 'Nobody has to act.'}
        </p>
      </div>
      <div class="task">
        <h2>Next task</h2>
        <NextTask health={health} now={now} />
      </div>
    </section>
  );
}
