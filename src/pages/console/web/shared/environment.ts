import type { Health } from './health.js';

/** Name and appearance of the environment: production must look unlike any other. */
export interface Environment {
  readonly name: string;
  readonly kind: 'sandbox' | 'production' | 'other';
}

/**
 * The environment, as named by the operator. The sandbox is always shown as such; an unnamed environment may be
 * production.
 */
export function toEnvironment({ environment: name, details: { bank } }: Health): Environment {
  if (bank.mode === 'sandbox') return { name: 'Sandbox', kind: 'sandbox' };
  if (!name) return { name: 'Live bank', kind: 'production' };
  return { name, kind: /(^|[^a-z])(prod|production|live|prd)([^a-z]|$)/i.test(name) ? 'production' : 'other' };
}
