import type { ProblemEntry, RecentEvent } from '../shared/gateway.js';

const HOUR_MS = 3_600_000;

/** Events of one kind in a row, as one line. */
export interface EventGroup {
  readonly title: string;
  readonly level: RecentEvent['level'];
  readonly from: string;
  readonly to: string;
  readonly count: number;
  /** True while the problem lasts. */
  readonly open: boolean;
}

/** The events of the last hour in groups of the same code (else event), the newest first. A recovery ends those before it. */
export function groupEvents(
  events: readonly RecentEvent[],
  problems: readonly ProblemEntry[],
  current: readonly string[],
  now: number,
): EventGroup[] {
  const groups: (EventGroup & { readonly key: string })[] = [];
  let since = 0;
  for (const { at, level, event, code, msg } of events.filter((each) => Date.parse(each.at) > now - HOUR_MS)) {
    const key = code ?? event;
    const known = groups.findIndex((group, index) => index >= since && group.key === key);
    const before = groups[known];
    if (before) groups[known] = { ...before, to: at, count: before.count + 1 };
    else {
      const title = toTitle({ event, msg }, problems.find((each) => each.code === code)?.title);
      groups.push({ key, title, level, from: at, to: at, count: 1, open: false });
    }
    if (event.endsWith('.recovered')) since = groups.length;
  }
  return groups.map((group, index) => ({ ...group, open: index >= since && current.includes(group.key) })).reverse();
}

/** The title of the code, else the message. For an expiry, the part of the message before the remedy. */
function toTitle({ event, msg }: Pick<RecentEvent, 'event' | 'msg'>, title: string | undefined): string {
  if (event === 'certificate.expiring') return capitalize(msg.replace(/:.*/, ''));
  return title ?? capitalize(msg);
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
