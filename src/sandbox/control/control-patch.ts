import { z } from 'zod';
import { Allowlist } from '../state/allowlist.js';
import { ENDPOINTS, FAULTS, MAX_ORDERS } from '../state/faults.js';

const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`);

const faultOrder = z.strictObject({
  endpoint: oneOf(ENDPOINTS),
  times: z.int().min(1).max(1_000_000).default(1),
  with: oneOf(FAULTS),
});

const address = z.string().refine(isAllowlistEntry, 'must be an IP address or a CIDR, such as 127.0.0.1 or 10.0.0.0/8');

/** Body of PATCH /control (docs/sandbox.md#its-switches). */
export const controlPatch = z.strictObject({
  latencyMs: z.int().min(0).max(600_000).exactOptional(),
  tokenLifetimeSeconds: z.int().min(1).max(86_400).exactOptional(),
  grantAccess: z.boolean().exactOptional(),
  allowedIps: z.array(address).max(1000).exactOptional(),
  accounts: z.int().min(0).max(200_000).exactOptional(),
  movement: z.boolean().exactOptional(),
  password: z
    .string()
    .regex(/^[^\p{Cc}]{1,200}$/u, 'must be 1 to 200 characters, without control characters')
    .exactOptional(),
  revokeTokens: z.literal(true).exactOptional(),
  failNext: z
    .preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(faultOrder).max(MAX_ORDERS))
    .exactOptional(),
});

/** A checked patch. */
export type ControlPatch = z.output<typeof controlPatch>;

type PatchResult =
  | { readonly isValid: true; readonly patch: ControlPatch }
  | { readonly isValid: false; readonly problems: readonly string[]; readonly allowed: readonly string[] };

/** Validates a patch as a whole: it is accepted entirely or rejected with all errors. */
export function checkPatch(value: unknown): PatchResult {
  const { success, data, error } = controlPatch.safeParse(value);
  if (success) return { isValid: true, patch: data };
  const problems = error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  return { isValid: false, problems, allowed: Object.keys(controlPatch.shape) };
}

function isAllowlistEntry(entry: string): boolean {
  try {
    return Boolean(new Allowlist([entry]));
  } catch {
    return false;
  }
}
