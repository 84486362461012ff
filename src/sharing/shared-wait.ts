import { z } from 'zod';
import { NoToken } from '../auth/authorized-call.js';
import { kindOf, toWaitMs } from '../time/back-off.js';
import { GatewayError } from '../problems/gateway-error.js';
import { isProblemCode, type ProblemCode } from '../problems/problem-table.js';
import type { FleetKeys } from './fleet-keys.js';
import { openJson, sealJson } from './sealing.js';

/** Failures that say something of this instance alone: the others may well do better, and need not wait. */
const OWN: ReadonlySet<ProblemCode> = new Set([
  'bank-untrusted',
  'certificate-unusable',
  'internal-error',
  'overloaded',
  'proxy-refused',
  'proxy-unavailable',
  'stopping',
]);

const KEEP_MS = 600_000;

const waitSchema = z.object({
  code: z.string().refine(isProblemCode),
  detail: z.string().max(1000),
  owner: z.enum(['caller', 'operator', 'bank', 'network']),
  failures: z.int().min(1),
  kind: z.enum(['failure', 'refusal']),
  /** By Redis' clock, ms since 1970. */
  at: z.number(),
  waitMs: z.number(),
});

/** A failure at the bank that the whole fleet waits after. */
export type SharedWait = z.output<typeof waitSchema>;

/** Whether a failure concerns the fleet: asking the bank again from elsewhere would make it no better. */
export const concernsAll = (thrown: unknown): thrown is GatewayError =>
  thrown instanceof GatewayError && !(thrown instanceof NoToken) && !OWN.has(thrown.code);

/** What is to be waited after a failure, given the one before it. */
export function toSharedWait(error: GatewayError, before: SharedWait | null, now: number): SharedWait {
  const { code, detail, owner } = error;
  const kind = kindOf(error);
  const failures = before?.kind === kind ? before.failures + 1 : 1;
  return { code, detail, owner, failures, kind, at: now, waitMs: toWaitMs(error, failures) };
}

/** The error that is waited after, with the ms that are left; null when it is over. */
export function toWaiting({ code, detail, owner, at, waitMs }: SharedWait, now: number): GatewayError | null {
  const leftMs = Math.min(waitMs, at + waitMs - now);
  return leftMs > 0 ? new GatewayError(code, detail, { owner, retryAfterMs: leftMs }) : null;
}

/** The wait as it lies in Redis, and for how long, ms: longer than it lasts, since the next one grows out of it. */
export function sealWait(wait: SharedWait, keys: FleetKeys): { readonly sealed: Buffer; readonly lastsMs: number } {
  const sealed = sealJson(wait, { kind: 'wait', at: wait.at, fence: 0 }, keys);
  return { sealed, lastsMs: Math.ceil(wait.waitMs) + KEEP_MS };
}

/** @throws Refused */
export const openWait = (sealed: Buffer, keys: FleetKeys): SharedWait =>
  openJson(sealed, 'wait', waitSchema, keys).value;
