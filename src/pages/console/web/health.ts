import type { Health } from '../../../../client/src/index.js';

export type { Health };
export type Status = Health['details']['bank']['status'];

/** A problem of a component. */
export interface Trouble {
  readonly part: string;
  readonly level: 'warn' | 'bad';
  readonly code: string;
  readonly owner: string;
  readonly detail: string;
  readonly remedy: string;
}

/** The problems, most important first as /health has them; a cause that shows in several components once. */
export function toTroubles({ details }: Health): Trouble[] {
  const troubles: Trouble[] = [];
  for (const [part, found] of Object.entries(details)) {
    if (!found || (found.status !== 'down' && found.status !== 'degraded')) continue;
    const { code = 'internal-error', owner = 'operator', detail = '', remedy = '' } = found as Partial<Trouble>;
    if (troubles.some((known) => known.code === code)) continue;
    troubles.push({ part, level: found.status === 'down' ? 'bad' : 'warn', code, owner, detail, remedy });
  }
  return troubles;
}
