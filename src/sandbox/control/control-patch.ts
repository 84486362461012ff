import { z } from 'zod';
import { ENDPOINTS, FAULTS } from '../faults.js';
import { isAllowlistEntry } from '../allowlist.js';

const faultOrder = z.strictObject({
  endpoint: z.enum(ENDPOINTS),
  times: z.int().min(1).max(1_000_000).default(1),
  with: z.enum(FAULTS),
});

const address = z.string().refine(isAllowlistEntry, 'must be an IP address or a CIDR, such as 127.0.0.1 or 10.0.0.0/8');

/** Body of PATCH /control (docs/sandbox.md#its-switches). */
const controlPatch = z.strictObject({
  latencyMs: z.int().min(0).max(600_000).optional(),
  tokenLifetimeSeconds: z.int().min(1).max(86_400).optional(),
  grantAccess: z.boolean().optional(),
  allowedIps: z.array(address).max(1000).optional(),
  accounts: z.int().min(0).max(200_000).optional(),
  movement: z.boolean().optional(),
  revokeTokens: z.literal(true).optional(),
  failNext: z.union([faultOrder.transform((order) => [order]), z.array(faultOrder).max(100)]).optional(),
});

export type SwitchPatch = z.output<typeof controlPatch>;

export type PatchResult =
  | { readonly good: true; readonly patch: SwitchPatch }
  | { readonly good: false; readonly problems: readonly string[]; readonly allowed: readonly string[] };

/** Checks a patch whole: it is taken entirely or, with every fault named, not at all. */
export function checkPatch(value: unknown): PatchResult {
  const { success, data, error } = controlPatch.safeParse(value);
  if (success) return { good: true, patch: data };
  return { good: false, problems: error.issues.flatMap(toProblems), allowed: Object.keys(controlPatch.shape) };
}

function toProblems(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'invalid_union') {
    // Both readings of failNext failed; the more telling one got deeper into what was sent.
    const [best] = issue.errors.toSorted((a, b) => depth(b) - depth(a));
    return (best ?? []).flatMap((inner) => toProblems({ ...inner, path: [...issue.path, ...inner.path] }));
  }
  const at = issue.path.join('.');
  return [at ? `${at}: ${issue.message}` : issue.message];
}

function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(...issues.map((issue) => issue.path.length + (issue.code === 'unrecognized_keys' ? 1 : 0)));
}
