import { errorList, ok, problem, type Answer } from './answer.js';
import type { BankCall } from './bank-call.js';
import type { BankState } from '../state/bank-state.js';

/** The token endpoint (docs/bank.md#token-endpoint), strict: it rejects requests that differ from the document. */
export async function authorize(call: BankCall, bank: BankState): Promise<Answer> {
  const rejected = reject(call, bank);
  if (rejected) return rejected;
  const lifetime = bank.switches.values.tokenLifetimeSeconds;
  const { token, number } = await bank.tokens.issue(call.thumbprint ?? '', bank.username, lifetime);
  const replayed = bank.replay?.token(token, lifetime);
  if (replayed) return { ...replayed, tokenNumber: number };
  const body = JSON.stringify({ access_token: token, expires_in: String(lifetime), token_type: 'Bearer' });
  return { ...ok(body, { 'cache-control': 'no-store' }), tokenNumber: number };
}

function reject({ method, headers, hasBody, clientAddress, thumbprint }: BankCall, bank: BankState): Answer | null {
  if (method !== 'GET') return problem(405, 'Only GET is served here.', { allow: 'GET' });
  if (!bank.switches.admits(clientAddress)) return problem(403, 'The IP address is not on the allowlist.');
  if (!thumbprint) return problem(401, 'No client certificate was presented.');
  const type = headers['content-type'];
  if (type === undefined) return errorList('ContentTypeMissing', 'Content-Type must be application/json.');
  if (!isJson(type)) return problem(415, 'Content-Type must be application/json.');
  if (hasBody) return errorList('BodyNotExpected', 'The request must not have a body.');
  const given = parseBasic(headers.authorization);
  if (!given) return errorList('AuthorizationParseFailure', 'The Authorization header could not be parsed.');
  if (given.username === bank.username && given.password === bank.switches.values.password) return null;
  return problem(401, 'User name or password is wrong.', { 'www-authenticate': 'Basic realm="sandbox"' });
}

function isJson(type: string): boolean {
  return type.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** Parses a Basic Authorization header (RFC 7617, UTF-8); null for anything else. */
function parseBasic(header: string | undefined): { readonly username: string; readonly password: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '')?.[1];
  if (!encoded || encoded.length % 4 !== 0) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
    const colon = text.indexOf(':');
    return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
  } catch {
    return null;
  }
}
