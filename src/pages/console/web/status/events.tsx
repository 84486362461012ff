import { useState } from 'preact/hooks';
import { toClock } from '../shared/time.js';
import type { EventGroup } from './event-groups.js';

/** As many as there is room for on one screen. */
const FEW = 3;

/** The last notable events in words, grouped, the newest first. */
export function Events({ groups, known }: { readonly groups: readonly EventGroup[]; readonly known: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? groups : groups.slice(0, FEW);
  return (
    <>
      <h3 class="hidden">Events</h3>
      {known && groups.length === 0 && <p class="quiet">No notable events.</p>}
      <ol class="events">
        {shown.map((group, index) => (
          <li key={groups.length - index}>
            <time class="quiet" dateTime={group.from}>
              {toClock(group.from)}
            </time>
            <span>{toWords(group)}</span>
          </li>
        ))}
      </ol>
      {groups.length > FEW && (
        <button type="button" class="plain" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `${groups.length - FEW} more`}
        </button>
      )}
    </>
  );
}

function toWords({ title, count, open, from, to }: EventGroup): string {
  const times = count > 1 ? ` ×${count}` : '';
  if (open) return `${title}${times}, now`;
  return count > 1 && from.slice(0, 16) !== to.slice(0, 16)
    ? `${title}${times}, until ${toClock(to)}`
    : `${title}${times}`;
}
