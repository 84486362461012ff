import type { Health } from '../shared/health.js';
import type { Cause } from './cause.js';

/** The hops in order, as /health names them, and in words. */
const HOPS = [
  ['certificate', 'certificate'],
  ['egress', 'network'],
  ['token', 'token service'],
  ['bank', 'account list'],
] as const;

/** Why the bank must act: the hops before the broken one that work. Empty if somebody else must act. */
export function toEvidence({ part, owner }: Cause, { details }: Health): string {
  if (owner !== 'bank') return '';
  const at = HOPS.findIndex(([name]) => name === part);
  const before = HOPS.slice(0, at === -1 ? HOPS.length : at);
  const works = before.filter(([name]) => details[name].status === 'up').map(([, name]) => name);
  if (works.length === 0) return '';
  const list = works.length === 1 ? works[0] : `${works.slice(0, -1).join(', ')} and ${works.at(-1)}`;
  return `The cause is not on our side: ${list} ${works.length === 1 ? 'is' : 'are'} healthy.`;
}
