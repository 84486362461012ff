import type { WireRequest } from '../../../src/egress/wire-client.js';
import type { Draw, Plan } from './odd-days.js';

const TOKEN_LIFETIME_MS = 300_000;

/** The versions of the identity files: false until the operator changes a file, true afterwards. */
export interface Files {
  readonly password: boolean;
  readonly certificate: boolean;
}

/** The files that the operator has installed at this time. */
export const filesAt = (plan: Plan, at: number): Files => ({
  password: plan.ended('password', at),
  certificate: plan.begun('certificate', at) !== undefined,
});

interface BankAnswer {
  /** Null if the connection fails. */
  readonly status: number | null;
  readonly ms: number;
  readonly body?: unknown;
  /** Seconds. */
  readonly retryAfter?: number;
  /** True if the token of the request had expired. */
  readonly expired?: true;
}

/** A page of the list, reduced to its counts. */
export interface ModelPage {
  readonly rows: number;
  readonly rowCount: number;
  readonly pageSize: number;
}

/** The response of the bank at this time, to a gateway with these files. */
export function answerOf(request: WireRequest, files: Files, plan: Plan, at: number, draw: Draw): BankAnswer {
  const isToken = request.target === 'token';
  const ms = isToken ? draw(80, 400) : draw(150, 600);
  if (plan.during('down', at)) return { status: null, ms };
  if (plan.during('window', at) || plan.during('overrun', at)) return { status: 503, ms };
  if (files.certificate && !plan.ended('certificate', at)) return { status: 400, ms };
  if (!isToken) return answerToList(request, plan, at, draw, ms);
  if (files.password !== (plan.begun('password', at) !== undefined)) return { status: 401, ms, body: {} };
  return { status: 200, ms, body: { access_token: String(at), expires_in: String(TOKEN_LIFETIME_MS / 1000) } };
}

function answerToList(
  { headers, query = {} }: WireRequest,
  plan: Plan,
  at: number,
  draw: Draw,
  ms: number,
): BankAnswer {
  const issued = Number(headers['Authorization']?.split(' ')[1]);
  if (at > issued + TOKEN_LIFETIME_MS) return { status: 401, ms, expired: true };
  const revoked = plan.begun('revoked', at);
  if (revoked && issued <= revoked.until) return { status: 401, ms };
  const limited = plan.during('rate-limited', at);
  if (limited && draw(1, 10) <= 3) return { status: 429, ms, retryAfter: limited.value };
  if (plan.during('not-granted', at)) return { status: 404, ms };
  const rowCount = plan.begun('accounts', at)?.value ?? 0;
  const [number, pageSize] = [Number(query['PageNumber']), Number(query['PageSize'])];
  const rows = Math.max(0, Math.min(pageSize, rowCount - (number - 1) * pageSize));
  const slow = plan.during('slow', at);
  const body: ModelPage = { rows, rowCount, pageSize };
  return { status: 200, ms: slow ? draw(slow.value / 4, slow.value) : ms, body };
}
