import type { Health } from '../../../client/src/index.js';

export type { Health };
export type Status = Health['details']['bank']['status'];

/** What is wrong with a part. */
export interface Trouble {
  readonly part: string;
  readonly level: 'warn' | 'bad';
  readonly code: string;
  readonly owner: string;
  readonly detail: string;
  readonly remedy: string;
}

/** What is wrong, most important first as /health has it; a cause that shows in several parts once. */
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
