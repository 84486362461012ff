import type { ProblemEntry, Recent } from '../shared/gateway.js';
import { toMinuteMoment, toMoment } from '../shared/time.js';
import { groupEvents, type EventGroup } from './happened.js';
import { SearchForm } from './search-form.js';

interface Props {
  /** Null until the first response. */
  readonly recent: Recent | null;
  readonly problems: readonly ProblemEntry[];
  /** Codes of the current problems. */
  readonly current: readonly string[];
  /** False in an incident, in which nobody looks for an account. */
  readonly isCalm: boolean;
  /** Time of the gateway's response. */
  readonly now: number;
}

/** The notable events of the last hour in words, grouped, newest first; in calm times also a search. */
export function WhatHappened({ recent, problems, current, isCalm, now }: Props) {
  const groups = recent ? groupEvents(recent.events, problems, current, now) : [];
  return (
    <section class="card half" aria-labelledby="events">
      <h2 id="events">What happened</h2>
      {recent && groups.length === 0 && <p class="quiet">No notable events in the last hour.</p>}
      {groups.length > 0 && (
        <div class="fill" tabindex={0} role="group" aria-label="Events, the newest first">
          <ol class="events">
            {groups.map((group, index) => (
              <li key={groups.length - index} class={group.bySwitch ? 'quiet' : undefined}>
                <time class="quiet" dateTime={group.from}>
                  {toMoment(group.from, now)}
                </time>
                <span>
                  {toWords(group, now)} {group.code && <a href={`/problems/${group.code}`}>{group.code}</a>}
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {isCalm && <SearchForm />}
    </section>
  );
}

function toWords({ title, count, open, from, to }: EventGroup, now: number): string {
  const times = count > 1 ? ` ×${count}` : '';
  if (open) return `${title}${times}, ongoing.`;
  const isLonger = count > 1 && from.slice(0, 16) !== to.slice(0, 16);
  return `${title}${times}${isLonger ? `, until ${toMinuteMoment(to, now)}` : ''}.`;
}
