import { GatewayProblem, toNetworkProblem } from '../../../../../client/src/gateway-problem.js';
import type { AccountList, ProblemEntry, Recent } from '../../../../../client/src/index.js';
import type { Health } from './health.js';
import { setServerTime } from './time.js';

/** The switches of the sandbox bank (docs/sandbox.md#its-switches) that the page offers. */
export interface Switches {
  readonly latencyMs: number;
  readonly grantAccess: boolean;
  readonly allowedIps: readonly string[];
  readonly accounts: number;
  readonly movement: boolean;
  readonly passwordChanged: boolean;
  readonly failNext: readonly { readonly endpoint: string; readonly times: number; readonly with: string }[];
}

export { GatewayProblem, type ProblemEntry, type Recent };
export type {
  Account,
  AccountList,
  BalancesAnswer,
  RecentClient,
  RecentEvent,
} from '../../../../../client/src/index.js';

const HEALTH_DEADLINE_MS = 8000;
const DEADLINE_MS = 20_000;

/** /health, ready or not. */
export const readHealth = (signal?: AbortSignal): Promise<Health> => call('/health', { signal }, HEALTH_DEADLINE_MS);

/** The last hour. */
export const readRecent = (): Promise<Recent> => call('/health/recent', {}, HEALTH_DEADLINE_MS);

/** The points of the last hour, up to the moment of the response. */
export const toPoints = (recent: Recent | null): Recent['points'] => (recent ? [...recent.points, recent.present] : []);

/** The explanation of each error. */
export const readProblems = (signal: AbortSignal): Promise<ProblemEntry[]> => call('/problems', { signal });

/** The result of a call with `no-cache`. */
export const readNow = (): Promise<AccountList> =>
  call('/api/v1/accounts?pageSize=1', { cache: 'no-cache', headers: { 'Cache-Control': 'no-cache' } });

/** The switches of the sandbox bank. */
export const readSwitches = (signal: AbortSignal): Promise<Switches> => call('/sandbox/control', { signal });

/** Sets switches and returns the state after it. */
export const setSwitches = (patch: object): Promise<Switches> =>
  call('/sandbox/control', {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(patch),
  });

/** Sets all switches back. */
export const resetSwitches = (): Promise<Switches> => call('/sandbox/control', { method: 'DELETE' });

/** Converts any error to a problem. */
export const toProblem = (cause: unknown): GatewayProblem =>
  cause instanceof GatewayProblem
    ? cause
    : new GatewayProblem({ code: 'internal-error', owner: 'operator', message: 'An error of this page.', cause });

/**
 * `fetch` for the calls of this page. Over plain HTTP to another host than localhost, browsers send no Sec-Fetch-Site,
 * so only `Referer` shows that they come from the gateway's own page.
 */
export const fetchAsPage: typeof fetch = (input, init) => fetch(input, { ...init, referrerPolicy: 'same-origin' });

type Init = Omit<RequestInit, 'signal'> & { readonly signal?: AbortSignal | undefined };

/** A call of this page. @throws GatewayProblem, or the reason of `signal` */
async function call<T>(path: string, { signal, ...init }: Init, deadlineMs = DEADLINE_MS): Promise<T> {
  const headers = { Accept: 'application/json', 'X-Client-Name': 'console', ...init.headers };
  const deadline = AbortSignal.timeout(deadlineMs);
  let response: Response;
  let body: unknown;
  try {
    response = await fetchAsPage(path, {
      ...init,
      headers,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    body = await response.json();
  } catch (cause) {
    // a gateway that does not answer in time, or not in JSON, counts as unreachable
    signal?.throwIfAborted();
    throw toNetworkProblem(cause, path);
  }
  setServerTime(response.headers.get('Date'));
  // /health has the same form when it is not ready
  if (response.ok || (typeof body === 'object' && body !== null && 'details' in body)) return body as T;
  const {
    code = 'internal-error',
    owner = 'operator',
    detail = '',
    requestId,
  } = (body ?? {}) as Record<string, string>;
  throw new GatewayProblem({ code, owner, message: detail, status: response.status, requestId: requestId ?? null });
}
