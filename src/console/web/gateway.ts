import { toNetworkProblem } from '../../../client/src/gateway-problem.js';
import {
  createClient,
  GatewayProblem,
  type Health,
  type ProblemEntry,
  type Recent,
} from '../../../client/src/index.js';

/** The switches of the sandbox bank (docs/sandbox.md#its-switches), as far as the page has a use for them. */
export interface Switches {
  readonly latencyMs: number;
  readonly grantAccess: boolean;
  readonly allowedIps: readonly string[];
  readonly movement: boolean;
  readonly failNext: readonly { readonly endpoint: string; readonly times: number; readonly with: string }[];
}

export { GatewayProblem, type Health, type ProblemEntry, type Recent };
export type { Account, AccountList, BalancesAnswer, RecentEvent, RecentPoint } from '../../../client/src/index.js';

const HEALTH_DEADLINE_MS = 8000;
const DEADLINE_MS = 20_000;
const MAX_HEARD = 20;

/** When an answer came, and how old its data were then. */
interface Heard {
  readonly ageMs: number;
  readonly at: number;
}

const heardOf = new Map<string, Heard>();

/** The page's own client: the one that web apps use, and what it leaves out. */
export const client = createClient({
  baseUrl: '',
  clientName: 'console',
  deadlineMs: DEADLINE_MS,
  fetch: async (input, init) => {
    const response = await fetch(input, init);
    const asOf = response.headers.get('Snapshot-As-Of');
    const age = response.headers.get('Age');
    if (asOf !== null && age !== null) {
      heardOf.set(asOf, { ageMs: Number(age) * 1000, at: performance.now() });
      // the oldest first; only what is shown is asked for again
      for (const oldest of heardOf.keys()) if (heardOf.size > MAX_HEARD) heardOf.delete(oldest);
    }
    return response;
  },
});

/**
 * How old data of this moment are now, in ms: by the answer's Age and the monotonic clock, since the clock of the reader may
 * be wrong. `heard` is what was known before of the same moment.
 */
export function ageOf(asOf: string, heard: Heard | null): Heard {
  return heardOf.get(asOf) ?? heard ?? { ageMs: Math.max(0, Date.now() - Date.parse(asOf)), at: performance.now() };
}

/** The whole picture, whether ready or not. @throws GatewayProblem */
export const readHealth = (signal: AbortSignal): Promise<Health> => call('/health', { signal }, HEALTH_DEADLINE_MS);

/** The last hour. @throws GatewayProblem */
export const readRecent = (signal: AbortSignal): Promise<Recent> => call('/health/recent', { signal });

/** What each error means. @throws GatewayProblem */
export const readProblems = (signal: AbortSignal): Promise<ProblemEntry[]> => call('/problems', { signal });

/** The present switches of the sandbox bank. @throws GatewayProblem */
export const readSwitches = (signal: AbortSignal): Promise<Switches> => call('/sandbox/control', { signal });

/** Turns switches, and gives the state after it. @throws GatewayProblem */
export const turnSwitches = (patch: object): Promise<Switches> =>
  call('/sandbox/control', {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(patch),
  });

/** Sets all switches back; the gateway then asks the bank at once. @throws GatewayProblem */
export const resetSwitches = (): Promise<Switches> => call('/sandbox/control', { method: 'DELETE' });

/** What went wrong in a call, whatever it was. */
export const toProblem = (cause: unknown): GatewayProblem =>
  cause instanceof GatewayProblem
    ? cause
    : new GatewayProblem({ code: 'internal-error', owner: 'operator', message: 'A fault of this page.', cause });

async function call<T>(path: string, init: RequestInit, deadlineMs = DEADLINE_MS): Promise<T> {
  const headers = { Accept: 'application/json', 'X-Client-Name': 'console', ...init.headers };
  const deadline = AbortSignal.timeout(deadlineMs);
  let response: Response;
  let body: unknown;
  try {
    const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
    response = await fetch(path, { ...init, headers, signal });
    body = await response.json();
  } catch (cause) {
    // a gateway that says nothing is one that cannot be reached; who gave up by themselves is told so
    init.signal?.throwIfAborted();
    throw toNetworkProblem(cause);
  }
  // /health is itself when it is not ready
  if (response.ok || (typeof body === 'object' && body !== null && 'details' in body)) return body as T;
  const problem = (body ?? {}) as Partial<Record<string, string>>;
  const { code = 'internal-error', owner = 'operator', detail = '', requestId } = problem;
  throw new GatewayProblem({ code, owner, message: detail, status: response.status, requestId: requestId ?? null });
}
