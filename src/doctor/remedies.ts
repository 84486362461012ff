import { PROBLEMS, type ProblemCode } from '../problems/problem-table.js';
import type { StepName } from './report.js';

/** The hop that each step asks, and the setting that leads to it. */
const ASKED: Partial<Record<StepName, readonly [service: string, setting: string]>> = {
  token: ['token service', 'BANK_AUTH_URL (when it is not set, of BANK_BASE_URL)'],
  accounts: ['account service', 'BANK_BASE_URL'],
  shape: ['account service', 'BANK_BASE_URL'],
};

/**
 * Remedy for the owner of a failed step: that of the problem table, except where that one counts on the
 * gateway to retry, or sends the reader to the doctor.
 */
export function remedyFor(step: StepName, code: ProblemCode): string {
  const [service, setting] = ASKED[step] ?? ['service', 'BANK_BASE_URL'];
  switch (code) {
    case 'bank-error':
      return `Ask the bank whether its ${service} is up, with the time and the problem above. Name, connection, TLS and certificate are fine.`;
    case 'bank-timeout':
      return `Ask the bank whether its ${service} is slow or down, with the time; the connection to it is fine. If it is only slow, raise BANK_REQUEST_TIMEOUT_MS, or request less at once with BANK_PAGE_SIZE.`;
    case 'bank-response-invalid':
      return `Check that the address of ${setting} leads to the ${service} itself: a portal or a proxy may answer in its place. If it does, report the time and the problem above to the bank, and ask what has changed. If the answer is too large, lower BANK_PAGE_SIZE or raise BANK_MAX_RESPONSE_BYTES.`;
    case 'bank-rate-limited':
      return 'Wait some minutes and run the doctor again. Ask the bank for its limit, and look for other programs that use the same M2M user.';
    case 'proxy-refused':
    case 'proxy-unavailable':
      return 'Ask the network team about the state of the proxy: a moment ago it opened the tunnel.';
    default:
      return PROBLEMS[code].remedy;
  }
}
