import { useState } from 'preact/hooks';
import type { EventGroup } from '../event-groups.js';
import type { Level } from '../path.js';
import { toClock, toMinute } from '../time.js';
import { LevelIcon } from './icon.js';

const FEW = 4;

/** The last notable events, grouped, the newest first. */
export function Events({ groups, known }: { readonly groups: readonly EventGroup[]; readonly known: boolean }) {
  const [all, setAll] = useState(false);
  const shown = all ? groups : groups.slice(0, FEW);
  return (
    <>
      <h3 class="hidden">Events</h3>
      {known && groups.length === 0 && <p class="quiet">No notable events yet.</p>}
      <ol class="events">
        {shown.map((group, index) => (
          <li key={groups.length - index}>
            <LevelIcon level={toLevel(group)} size={14} />
            <span class="quiet">{toTimes(group)}</span>
            <span>
              {group.title}
              {group.count > 1 && <span class="quiet"> ×{group.count}</span>}
            </span>
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

function toTimes({ from, to, count, open }: EventGroup): string {
  if (open) return `${toMinute(from)}–now`;
  return count > 1 && toMinute(from) !== toMinute(to) ? `${toMinute(from)}–${toMinute(to)}` : toClock(from);
}

const toLevel = ({ level }: EventGroup): Level =>
  level === 'error' || level === 'fatal' ? 'bad' : level === 'warn' ? 'warn' : 'ok';
