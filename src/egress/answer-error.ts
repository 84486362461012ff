import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { NAMES, type BankTarget } from './bank-target.js';
import type { WireAnswer } from './wire-client.js';

type Refusals = Readonly<Record<number, readonly [code: ProblemCode, reason: string]>>;

const CREDENTIALS = [
  'credentials-rejected',
  ': user name or password is wrong, or our address is not on the allowlist of the bank',
] as const;

/** The refusals by their status; any other 4xx is bank-refused. */
const REFUSALS: Readonly<Record<BankTarget, Refusals>> = {
  token: {
    400: CREDENTIALS,
    401: CREDENTIALS,
    403: ['address-not-allowed', ': most likely our address is not on the allowlist of the bank'],
    404: ['bank-refused', ': the path in BANK_AUTH_URL may be wrong'],
  },
  accounts: {
    401: ['bank-refused', ': it rejected the access token again, right after a renewal'],
    403: ['bank-refused', ': our address may not be on the allowlist of the bank'],
    404: [
      'access-not-granted',
      ': the bank has granted the M2M user no accounts, or the path in BANK_BASE_URL is wrong',
    ],
  },
};

/** The error that an answer stands for, with its Retry-After; null for 200. One row per status in docs/bank.md#errors-of-the-bank. */
export function toAnswerError(answer: WireAnswer, target: BankTarget): GatewayError | null {
  const { status } = answer;
  if (status === 200) return null;
  const retryAfterMs = toRetryAfterMs(answer.retryAfter);
  const fail = (code: ProblemCode, detail: string) =>
    new GatewayError(code, detail, { retryAfterMs, upstreamStatus: status });
  const name = NAMES[target].replace('the', 'The');
  const answered = `${name} answered ${status}`;
  if (status === 429) return fail('bank-rate-limited', `${answered}.`);
  if (status >= 500) return fail('bank-error', `${answered}.`);
  if (status < 300 || status === 304) return fail('bank-response-invalid', `${answered} where 200 is expected.`);
  if (status < 400) return fail('bank-refused', `${name} answered with a redirect (${status}), which is not followed.`);
  // nginx with ssl_verify_client sends this page if the client certificate is missing or not accepted
  if (status === 400 && /^\s*<.*SSL certificate/is.test(answer.body.toString('latin1', 0, 4096))) {
    return fail(
      'certificate-rejected',
      `${answered} with a page that says that our client certificate was not accepted, or did not arrive.`,
    );
  }
  const [code, reason] = REFUSALS[target][status] ?? ['bank-refused', ''];
  return fail(code, `${answered}${reason}.`);
}

/** Milliseconds from a Retry-After header in seconds or as a date (RFC 9110 §10.2.3); undefined if it cannot be read. */
export function toRetryAfterMs(header: string | null, nowMs = Date.now()): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2}, /.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
