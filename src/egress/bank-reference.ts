import type { BankReference } from '../errors/gateway-error.js';
import type { WireAnswer } from './wire-client.js';

/** A larger body is not read: error bodies are small. */
const MAX_BODY_BYTES = 65_536;
const CODE = /^[A-Za-z]{1,60}$/;
const TRACE_ID = /^[0-9a-f][0-9a-f-]{14,62}[0-9a-f]$/i;
/** Digits, perhaps after two letters: an account number or an IBAN, which can be hexadecimal. */
const NUMBER = /(?:^|-)[a-f]{0,2}\d{14,}(?:-|$)/i;
const TRACE_HEADERS = ['x-correlation-id', 'x-request-id', 'x-amzn-trace-id'];

/**
 * The code and the trace id with which the bank's service desk finds a failed answer. Only what matches the strict patterns,
 * and nothing that we authenticated with, because a body may quote secrets or accounts.
 */
export function readReference({ headers, body, credentials = [] }: WireAnswer): BankReference {
  const found = objectsOf(body);
  const [, ofParent] = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(String(headers['traceparent'])) ?? [];
  const traceIds = [...found.map(({ traceId }) => traceId), ofParent, ...TRACE_HEADERS.map((name) => headers[name])];
  const find = (pattern: RegExp, texts: readonly unknown[]) =>
    texts.find(
      (text): text is string =>
        typeof text === 'string' &&
        pattern.test(text) &&
        !isNumber(text) &&
        !credentials.some((each) => overlap(each.toLowerCase(), text.toLowerCase())),
    );
  return {
    bankCode: find(
      CODE,
      found.flatMap(({ errorCode, code }) => [errorCode, code]),
    ),
    bankTraceId: find(TRACE_ID, traceIds),
  };
}

/** The document or the first item of a list, and the first of its `errors`; none for anything but JSON. */
function objectsOf(body: Buffer): Readonly<Record<string, unknown>>[] {
  try {
    const json: unknown = body.length > MAX_BODY_BYTES ? null : JSON.parse(body.toString());
    const first: unknown = Array.isArray(json) ? json[0] : json;
    const { errors } = Object(first) as { readonly errors?: unknown };
    return [first, Array.isArray(errors) ? errors[0] : null].map(Object);
  } catch {
    return [];
  }
}

/** True if the texts are equal, or if one contains the other and both have more than five characters. */
const overlap = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) > 5 && (a.includes(b) || b.includes(a)));

const isNumber = (text: string): boolean => NUMBER.test(text) || NUMBER.test(text.replaceAll('-', ''));
