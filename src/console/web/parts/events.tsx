import { useState } from 'preact/hooks';
import type { Recent, RecentEvent } from '../gateway.js';
import type { Level } from '../picture.js';
import { toClock } from '../time.js';
import type { Answer } from '../use-answer.js';
import { LevelIcon } from './icon.js';

const FEW = 8;

/** The last notable events, the newest first. */
export function Events({ answer: { data, problem } }: { readonly answer: Answer<Recent> }) {
  const [all, setAll] = useState(false);
  const events = (data?.events ?? []).toReversed();
  const shown = all ? events : events.slice(0, FEW);
  return (
    <section aria-labelledby="events">
      <h2 id="events" class="small">
        Events
      </h2>
      {shown.length === 0 ? (
        <p class="quiet">{data ? 'Nothing notable yet.' : problem ? 'Not known.' : 'Looking…'}</p>
      ) : (
        <ol class="events">
          {shown.map((event, index) => (
            <li key={events.length - index}>
              <LevelIcon level={toLevel(event)} size={14} />
              <span class="event-text">
                {event.msg}
                <span class="quiet">
                  {event.event}
                  {event.code && <> · {event.code}</>}
                  {event.owner && <> · {event.owner}</>}
                </span>
              </span>
              <time dateTime={event.at}>{toClock(event.at)}</time>
            </li>
          ))}
        </ol>
      )}
      {events.length > FEW && (
        <button type="button" class="plain" onClick={() => setAll(!all)} aria-expanded={all}>
          {all ? 'Show fewer' : `Show all ${events.length}`}
        </button>
      )}
    </section>
  );
}

function toLevel({ level, event }: RecentEvent): Level {
  if (level === 'error' || level === 'fatal') return 'bad';
  if (level === 'warn') return 'warn';
  return event.endsWith('recovered') ? 'ok' : 'idle';
}
