import { ok, problem, validationProblem, type Answer } from './answer.js';
import type { BankCall } from './bank-call.js';
import type { BankState } from '../state/bank-state.js';
import { parsePaging } from './paging.js';

/** The account list (docs/bank.md#account-list, #envelope-and-paging), strict about headers and paging. */
export async function listAccounts(call: BankCall, bank: BankState): Promise<Answer> {
  if (call.method !== 'GET') return problem(405, 'Only GET is served here.', { allow: 'GET' });
  if (!bank.switches.admits(call.clientAddress)) return problem(403, 'The IP address is not on the allowlist.');
  const token = /^Bearer +(\S+)$/i.exec(call.headers.authorization ?? '')?.[1];
  if (!token) return unauthorized('A bearer token is required.');
  const check = await bank.tokens.check(token, call.thumbprint);
  const answer = check.isValid ? list(call, bank) : unauthorized(check.reason);
  return { ...answer, tokenNumber: check.number };
}

function list(call: BankCall, { accounts, replay, switches }: BankState): Answer {
  if (!acceptsJson(call.headers.accept)) return problem(406, 'Accept must name application/json.');
  if (call.hasBody) return problem(400, 'The request must not have a body.');
  if (!switches.values.grantAccess) return problem(404, 'The user has no access to accounts.');
  const result = parsePaging(call.query);
  if (!result.isValid) return validationProblem(result.errors);
  const { number, size } = result.paging;
  const rowCount = switches.values.accounts;
  const replayed = replay?.page(number, size, rowCount);
  if (replayed) return replayed;
  const page = accounts.page(number, size, rowCount, switches.movingSeconds());
  const pageInfo = JSON.stringify({ currentPage: number, pageSize: size, rowCount });
  return ok(`{"result":[${page}],"pageInfo":${pageInfo}}`);
}

function acceptsJson(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'application/json' && !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter));
  });
}

function unauthorized(detail: string): Answer {
  return problem(401, detail, { 'www-authenticate': 'Bearer error="invalid_token"' });
}
