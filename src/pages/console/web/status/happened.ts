import type { ProblemEntry, RecentEvent } from '../shared/gateway.js';

const HOUR_MS = 3_600_000;

/** The events of one kind between two recoveries, as one line. */
export interface EventGroup {
  readonly title: string;
  /** Null for an event without a problem. */
  readonly code: string | null;
  readonly from: string;
  readonly to: string;
  /** How often it happened. One failed call may be several events, such as `bank.unavailable` and `snapshot.failed`. */
  readonly count: number;
  /** True while the problem lasts. */
  readonly open: boolean;
  /** True for effects of the sandbox's switches. */
  readonly bySwitch: boolean;
}

/** Words for some events without a code. The others have the words of their log line. */
const WORDS: Readonly<Record<string, string>> = {
  'gateway.started': 'Gateway started',
  'gateway.stopping': 'Gateway is stopping',
  'certificate.loaded': 'Certificate loaded',
  'config.reload': 'Reload requested',
  'sandbox.reset': 'The switches of the sandbox were reset',
};

/** The events of the last hour, grouped by code (or else by event), newest first. A recovery ends those before it. */
export function groupEvents(
  events: readonly RecentEvent[],
  problems: readonly ProblemEntry[],
  current: readonly string[],
  now: number,
): EventGroup[] {
  const groups: (EventGroup & { readonly key: string; readonly times: Readonly<Record<string, number>> })[] = [];
  let since = 0;
  for (const { at, event, code = null, msg } of events.filter((each) => Date.parse(each.at) > now - HOUR_MS)) {
    const key = code ?? event;
    const known = groups.findIndex((group, index) => index >= since && group.key === key);
    const before = groups[known];
    if (before) {
      const times = { ...before.times, [event]: (before.times[event] ?? 0) + 1 };
      groups[known] = { ...before, to: at, times, count: Math.max(...Object.values(times)) };
    } else {
      const title = problems.find((each) => each.code === code)?.title ?? WORDS[event] ?? capitalize(msg);
      groups.push({
        key,
        code,
        title,
        from: at,
        to: at,
        times: { [event]: 1 },
        count: 1,
        open: false,
        bySwitch: event === 'sandbox.reset',
      });
    }
    if (event.endsWith('.recovered')) since = groups.length;
  }
  return groups.map((group, index) => ({ ...group, open: index >= since && current.includes(group.key) })).reverse();
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
