import type { GatewayProblem, Health, ProblemEntry } from './gateway.js';
import type { Live } from './use-live.js';

export type Level = 'ok' | 'warn' | 'bad' | 'idle';
export type HopName = 'page' | 'accounts' | 'certificate' | 'route' | 'token' | 'bank';

/** What is wrong, in one place: what it is called, who must act and what to do. */
export interface Trouble {
  readonly hop: HopName;
  readonly level: 'warn' | 'bad';
  readonly title: string;
  readonly code: string | null;
  readonly owner: string;
  readonly detail: string;
  readonly remedy: string;
  /** When it last happened, or null. */
  readonly lastAt: string | null;
}

/** All that is wrong, the first thing first; each cause once, though it shows in several places. */
export function toTroubles(live: Live, problems: readonly ProblemEntry[]): Trouble[] {
  if (live.trouble) return [toPageTrouble(live.trouble, problems)];
  if (!live.health) return [];
  const troubles: Trouble[] = [];
  for (const [name, part] of Object.entries(live.health.details)) {
    if (!part || part.status === 'up') continue;
    // what the store of the instances says under a general code is told in its own words
    const code = name === 'sharing' ? null : (part.code ?? null);
    const hop = toHop(name, code);
    if (troubles.some((known) => known.code === code && known.hop === hop)) continue;
    troubles.push({
      hop,
      level: part.status === 'down' ? 'bad' : 'warn',
      title: toTitle(name, part, problems),
      code,
      owner: part.owner ?? 'operator',
      detail: part.detail ?? '',
      remedy: part.remedy ?? problems.find((each) => each.code === code)?.remedy ?? '',
      lastAt: lastErrorAt(live.health, name),
    });
  }
  return troubles;
}

/** The page and the gateway do not understand each other. */
function toPageTrouble(problem: GatewayProblem, problems: readonly ProblemEntry[]): Trouble {
  const known = problems.find(({ code }) => code === problem.code);
  const away = problem.status === 0;
  return {
    hop: 'page',
    level: 'bad',
    title: away ? 'Not connected to the gateway' : (known?.title ?? 'The gateway refuses this page'),
    code: known?.code ?? null,
    owner: away ? 'operator' : problem.owner,
    detail: away ? 'No answer comes from the gateway. What is shown is what came last.' : problem.message,
    remedy: away
      ? 'Check that the gateway runs and that this machine reaches it. The page tries again by itself.'
      : (known?.remedy ?? ''),
    lastAt: null,
  };
}

type Part = { readonly status: string; readonly daysLeft?: number; readonly refused?: unknown };

function toTitle(name: string, part: Part & { readonly code?: string }, problems: readonly ProblemEntry[]): string {
  if (name === 'sharing') return 'The instances cannot share';
  if (name === 'certificate' || name === 'listener') {
    const what = name === 'certificate' ? 'client certificate' : 'certificate of this API';
    if (part.refused) return `A newer ${what} was not taken`;
    const days = part.daysLeft ?? 0;
    if (part.status === 'degraded') return `The ${what} ends in ${days} ${days === 1 ? 'day' : 'days'}`;
  }
  return problems.find(({ code }) => code === part.code)?.title ?? `Something is wrong: ${part.code ?? name}`;
}

/** Where the way is broken: by the code, since one failure shows in several parts. */
function toHop(part: string, code: string | null): HopName {
  if (part === 'certificate' || code?.startsWith('certificate-')) return part === 'listener' ? 'page' : 'certificate';
  // readings and tokens are what they share
  if (part === 'sharing') return 'accounts';
  if (code?.startsWith('proxy-')) return 'route';
  if (code === 'credentials-rejected' || code === 'address-not-allowed') return 'token';
  if (part === 'instance' || part === 'listener' || code === 'stopping' || code === 'overloaded') return 'page';
  return 'bank';
}

function lastErrorAt(health: Health, name: string): string | null {
  const { bank, token } = health.details;
  if (name === 'certificate' || name === 'listener' || name === 'instance') return null;
  return (name === 'token' ? token.lastError?.at : bank.lastError?.at) ?? null;
}

/** How a hop looks: broken where the cause is, else as well as it is. */
export function levelOf(hop: HopName, live: Live, troubles: readonly Trouble[]): Level {
  const own = troubles.find((trouble) => trouble.hop === hop);
  if (own) return own.level;
  if (hop === 'page') return live.connected === null ? 'idle' : live.connected ? 'ok' : 'warn';
  if (!live.health || live.trouble) return 'idle';
  const { snapshot } = live.health.details;
  // the break is elsewhere: here is only what follows from it
  if (hop === 'accounts') return snapshot.status === 'up' ? 'ok' : snapshot.status === 'down' ? 'idle' : 'warn';
  return 'ok';
}

/** The whole in one word, for the title of the page and its icon. */
export function overall(live: Live, troubles: readonly Trouble[]): Level {
  if (live.trouble) return 'bad';
  if (!live.health) return 'idle';
  if (live.health.status === 'error') return 'bad';
  return live.health.status === 'ok' && troubles.length === 0 ? 'ok' : 'warn';
}
