import { GatewayError } from '../errors/gateway-error.js';
import type { ProblemCode } from '../errors/problem-table.js';
import { readReference } from './bank-reference.js';
import { toRetryAfterMs } from './http-date.js';
import { schemesOf } from './open-tunnel.js';
import { NAMES, type BankTarget, type WireAnswer } from './wire-client.js';

type Rejections = Readonly<Record<number, readonly [code: ProblemCode, reason: string]>>;

const CREDENTIALS = ['credentials-rejected', ''] as const;

/** Any other 4xx is bank-refused. */
const REJECTION_STATUSES: Readonly<Record<BankTarget, Rejections>> = {
  token: {
    400: CREDENTIALS,
    401: CREDENTIALS,
    403: ['address-not-allowed', ': most likely our address is not on the allowlist of the bank'],
    404: ['bank-refused', ': the path in BANK_AUTH_URL, or without it in BANK_BASE_URL, may be wrong'],
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

/** Excludes empty bodies, HTML and noise. Only parsing shows whether the rest is valid. */
const STARTS_LIKE_JSON = /^(\xef\xbb\xbf)?\s*[[{]/;

/** The error for an answer, with its Retry-After; null for JSON with 200. docs/errors.md#the-codes has the status of each code. */
export function toAnswerError(answer: WireAnswer, target: BankTarget): GatewayError | null {
  const { status, headers } = answer;
  const retryAfterMs = toRetryAfterMs(headers['retry-after'], headers.date);
  const isAskedToWait = status === 429 || (status === 503 && retryAfterMs !== undefined);
  const fail = (code: ProblemCode, detail: string) => {
    const bankReference = readReference(answer);
    return new GatewayError(code, detail, { retryAfterMs, upstreamStatus: status, bankReference, isAskedToWait });
  };
  const name = NAMES[target].replace('the', 'The');
  const answered = `${name} answered ${status}`;
  if (status === 200) {
    const isJson = STARTS_LIKE_JSON.test(answer.body.toString('latin1', 0, 1024));
    return isJson ? null : fail('bank-response-invalid', `${answered} with a body that is no JSON object or list.`);
  }
  if (status === 429) return fail('bank-rate-limited', `${answered}.`);
  if (status >= 500 || status === 408) return fail('bank-error', `${answered}.`);
  if (status < 300 || status === 304) return fail('bank-response-invalid', `${answered} where 200 is expected.`);
  if (status < 400) return fail('bank-refused', `${name} answered with a redirect (${status}), which is not followed.`);
  if (isAboutCertificate(answer)) {
    const page = 'a page that says that our client certificate was not accepted, or did not arrive';
    return fail('certificate-rejected', `${answered} with ${page}.`);
  }
  const [code, reason] = REJECTION_STATUSES[target][status] ?? ['bank-refused', ''];
  return fail(code, `${answered}${code === 'credentials-rejected' ? toCredentialsReason(answer) : reason}.`);
}

const MAX_SCANNED_BYTES = 65_536;

/** True if the answer says that the client certificate is missing or not accepted. nginx has 495 and 496 for this. */
function isAboutCertificate({ status, body }: WireAnswer): boolean {
  return [495, 496].includes(status) || ([400, 403].includes(status) && speaksOfCertificate(body));
}

const SPEAKS_OF_CERTIFICATE = new RegExp(
  [
    /\b(client|ssl|m?tls|x\.?509|peer) ?(\(ssl\) )?(certificate|zertifikat)|\bclient cert\b|post handshake authentication/,
    /\b(invalid|unknown|missing|untrusted|expired|revoked|no) certificate\b/,
    /\bcertificate ((is|was|has|could|verification|validation|authentication) )?(been )?(required|revoked|expired|missing|untrusted|invalid|unknown|rejected|failed|not )/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

function speaksOfCertificate(body: Buffer): boolean {
  const text = body
    .toString('latin1', 0, MAX_SCANNED_BYTES)
    .replace(/<[^<>]*>|&\w{1,10};|[_-]/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/\s+/g, ' ');
  return SPEAKS_OF_CERTIFICATE.test(text);
}

/** The likely cause of a rejection by the token endpoint. Names the password only if the bank may have checked it. */
function toCredentialsReason({ body, headers }: WireAnswer): string {
  const schemes = schemesOf(headers['www-authenticate']);
  if (speaksOfCertificate(body))
    return ' with a page about the client certificate, which did not arrive or is not accepted';
  if (schemes !== null && schemes.length > 0 && !schemes.includes('Basic')) {
    return ` and asks for ${schemes.join(' or ')} where the bank's document says Basic; BANK_AUTH_URL may lead to another service`;
  }
  return ': user name or password is wrong, or our address is not on the allowlist of the bank';
}
