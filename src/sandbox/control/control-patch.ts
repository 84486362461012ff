import { z } from 'zod';
import { Allowlist } from '../state/allowlist.js';
import { ENDPOINTS, FAULTS, MAX_QUEUED_FAULTS } from '../state/faults.js';
import { TO_UNLISTED } from '../state/switches.js';

const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`);

const wholeNumber = (min: number, max: number) => {
  const reason = `must be a whole number from ${min} to ${max}`;
  return z.int(reason).min(min, reason).max(max, reason);
};
const yesOrNo = z.boolean('must be true or false');
const atMost = (count: number) => `must be a list of at most ${count}`;

const queuedFault = z.strictObject(
  { endpoint: oneOf(ENDPOINTS), times: wholeNumber(1, 1_000_000).default(1), with: oneOf(FAULTS) },
  'must be an object with endpoint, with and optionally times',
);

const ADDRESS = 'must be an IP address or a CIDR, such as 127.0.0.1 or 10.0.0.0/8';
const PASSWORD = 'must be 1 to 200 characters, without control characters';

/** Body of PATCH /control (docs/sandbox.md#its-switches). */
const controlPatch = z.strictObject(
  {
    latencyMs: wholeNumber(0, 600_000).exactOptional(),
    tokenLifetimeSeconds: wholeNumber(1, 86_400).exactOptional(),
    grantAccess: yesOrNo.exactOptional(),
    allowedIps: z
      .array(z.string(ADDRESS).refine(isAllowlistEntry, ADDRESS), atMost(1000))
      .max(1000, atMost(1000))
      .exactOptional(),
    unlisted: oneOf(TO_UNLISTED).exactOptional(),
    accounts: wholeNumber(0, 200_000).exactOptional(),
    movement: yesOrNo.exactOptional(),
    password: z
      .string(PASSWORD)
      .regex(/^[^\p{Cc}]{1,200}$/u, PASSWORD)
      .exactOptional(),
    revokeTokens: z.literal(true, 'must be true').exactOptional(),
    failNext: z
      .preprocess(
        (value) => (Array.isArray(value) ? value : [value]),
        z.array(queuedFault).max(MAX_QUEUED_FAULTS, atMost(MAX_QUEUED_FAULTS)),
      )
      .exactOptional(),
  },
  'must be a JSON object',
);

/** A checked patch. */
export type ControlPatch = z.output<typeof controlPatch>;

/** What is wrong with a patch: the path of the value, and a reason that completes a sentence. */
interface PatchProblem {
  readonly name: string;
  readonly reason: string;
}

type PatchResult =
  | { readonly isValid: true; readonly patch: ControlPatch }
  | { readonly isValid: false; readonly problems: readonly PatchProblem[]; readonly allowed: readonly string[] };

/** Validates a patch as a whole: it is accepted entirely or rejected with all errors. */
export function checkPatch(value: unknown): PatchResult {
  const { success, data, error } = controlPatch.safeParse(value);
  if (success) return { isValid: true, patch: data };
  const allowed = Object.keys(controlPatch.shape);
  const problems = error.issues.flatMap((issue) => {
    const { path, message } = issue;
    if (issue.code !== 'unrecognized_keys') return { name: path.join('.') || 'the body', reason: message };
    const reason = path.length > 0 ? 'is not a known property' : `is not a switch; these are: ${allowed.join(', ')}`;
    return issue.keys.map((key) => ({ name: [...path, key].join('.'), reason }));
  });
  return { isValid: false, problems, allowed };
}

function isAllowlistEntry(entry: string): boolean {
  try {
    return Boolean(new Allowlist([entry]));
  } catch {
    return false;
  }
}
