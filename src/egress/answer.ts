import { GatewayError } from '../problems/gateway-error.js';
import type { WireAnswer } from './wire-client.js';

/**
 * The error for an answer whose status is not 200, by what a status means wherever it comes from; the token endpoint
 * and the account list look first at what it means there (docs/bank.md#errors-of-the-bank).
 */
export function toStatusError(answer: WireAnswer, target: string, nowWallMs: number): GatewayError {
  const { status } = answer;
  const retryAfterMs = toRetryAfterMs(answer.retryAfter, nowWallMs);
  if (status === 429) return new GatewayError('bank-rate-limited', `${target} answered 429.`, { retryAfterMs });
  if (status >= 500) return new GatewayError('bank-error', `${target} answered ${status}.`, { retryAfterMs });
  if (status >= 300 && status < 400 && status !== 304) {
    return new GatewayError('bank-refused', `${target} answered with a redirect (${status}), which is not followed.`);
  }
  if (status >= 400) {
    return (
      toPageRejection(answer, target) ??
      new GatewayError('bank-refused', `${target} answered ${status}.${pageHint(answer)}`)
    );
  }
  return new GatewayError('bank-response-invalid', `${target} answered ${status} where 200 is expected.`);
}

/**
 * certificate-rejected for a 400 with a page about the SSL certificate: so nginx with ssl_verify_client answers a client
 * certificate that it does not accept, and one that was not shown; null for any other answer.
 */
export function toPageRejection(answer: WireAnswer, target: string): GatewayError | null {
  if (answer.status !== 400 || !/SSL certificate/i.test(pageOf(answer))) return null;
  return new GatewayError(
    'certificate-rejected',
    `${target} answered 400 with a page that says that our client certificate was not accepted, or did not arrive.`,
  );
}

/** A sentence to add to the detail of a 400 or 403 whose body is a page: it may not come from the service itself. */
export function pageHint(answer: WireAnswer): string {
  if ((answer.status !== 400 && answer.status !== 403) || pageOf(answer) === '') return '';
  return ' The answer is an HTML page, so the server in front of the service may have refused our client certificate, or a firewall in front of it the request.';
}

/** The beginning of an HTML page; empty for an answer that is no page. */
function pageOf(answer: WireAnswer): string {
  const { contentType } = answer;
  const text = startOf(answer, 4096);
  const isPage = /^(text\/html|application\/xhtml)/i.test(contentType) || /^\s*<(!doctype html|html)/i.test(text);
  return isPage ? text : '';
}

/** Milliseconds from a Retry-After header in seconds or as a date (RFC 9110 §10.2.3); undefined when it says nothing. */
export function toRetryAfterMs(header: string | null, nowWallMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2}, /.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowWallMs);
}

/** The first bytes of the body as latin1; to join the pieces for that would cost as much as the whole is large. */
export function startOf({ pieces }: Pick<WireAnswer, 'pieces'>, bytes: number): string {
  let text = '';
  for (const piece of pieces) {
    if (text.length === bytes) break;
    text += piece.toString('latin1', 0, bytes - text.length);
  }
  return text;
}

/** The body in one piece. */
export const bodyOf = ({ pieces }: Pick<WireAnswer, 'pieces'>): Buffer => Buffer.concat(pieces);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body, which must be UTF-8; a byte order mark is dropped. @throws GatewayError bank-response-invalid */
export function toText(body: Uint8Array, target: string): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new GatewayError('bank-response-invalid', `The answer of ${target} is not valid UTF-8.`);
  }
}
