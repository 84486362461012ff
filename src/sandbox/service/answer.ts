import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';

/** A response. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Recorded header names, with the recorded values: sent instead of ours. */
  readonly recorded?: Readonly<Record<string, string | null>>;
  /** Of the token issued or used, for the request log. */
  readonly tokenNumber?: number | null;
}

/** A 200 with this JSON text. */
export function ok(json: string, headers: Record<string, string> = {}): Answer {
  return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: json };
}

/** Problem details (RFC 7807), as the real service sends them. */
export function problem(status: number, detail: string, headers: Record<string, string> = {}): Answer {
  return problemWith(status, STATUS_CODES[status] ?? '', { detail }, headers);
}

/** A validation problem: `errors` is an object of arrays. */
export function validationProblem(errors: Record<string, string[]>): Answer {
  return problemWith(400, 'One or more validation errors occurred.', { errors });
}

/** The format in which the token endpoint rejects a malformed request. */
export function errorList(errorCode: string, errorDescription: string): Answer {
  return { ...ok(JSON.stringify({ errors: [{ errorCode, errorDescription }] })), status: 400 };
}

function problemWith(status: number, title: string, more: object, headers: Record<string, string> = {}): Answer {
  const traceId = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-00`;
  return {
    status,
    headers: { 'content-type': 'application/problem+json; charset=utf-8', ...headers },
    body: JSON.stringify({ type: `https://httpstatuses.io/${status}`, title, status, ...more, traceId }),
  };
}
