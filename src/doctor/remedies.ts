import { PROBLEMS, type ProblemCode } from '../problems/problem-table.js';
import type { StepName } from './report.js';

type Remedies = Partial<Record<ProblemCode, string>>;

const ANSWERS: Remedies = {
  'bank-rate-limited':
    'Wait some minutes and run the doctor again; ask the bank for its limit, and look for other programs that use the same M2M user.',
  'proxy-refused': 'Ask the network team why the proxy opened the tunnel just now and refuses it this time.',
  'proxy-unavailable': 'Ask the network team about the state of the proxy: a moment ago it opened the tunnel.',
};

const REMEDIES: Partial<Record<StepName, Remedies>> = {
  token: {
    ...ANSWERS,
    'credentials-rejected':
      'Check BANK_USERNAME and BANK_PASSWORD (another environment, a blank or a quote too many). If they are right, ask the bank whether this M2M user is active, belongs to the certificate with our thumbprint, and may call from our public address.',
    'address-not-allowed':
      'Ask the bank to add our public address to the allowlist of this M2M user: the address of this machine, of its NAT or of the egress proxy. The network team knows it.',
    'bank-refused':
      'Check host and path of BANK_AUTH_URL (when it is not set, of BANK_BASE_URL): most likely this is not the token service. If it is, ask the bank, naming the time and the status above.',
    'bank-error':
      'Ask the bank whether its token service is up, with the time and the problem above. Name, connection, TLS and certificate are fine.',
    'bank-timeout':
      'Ask the bank whether its token service is slow or down, naming the time; the connection to it stands. If it is only slow, raise BANK_REQUEST_TIMEOUT_MS.',
    'bank-response-invalid':
      'Check that BANK_AUTH_URL (when it is not set, BANK_BASE_URL) leads to the token service itself (a portal or a proxy may answer in its place); if it does, report the time and the place in the answer to the bank.',
  },
  accounts: {
    ...ANSWERS,
    'access-not-granted':
      'Ask the bank to grant this M2M user access to our accounts, naming our thumbprint. If it says that it has, check the path of BANK_BASE_URL.',
    'bank-refused':
      'Check that BANK_BASE_URL and BANK_AUTH_URL are of the same environment (test or production). If they are, ask the bank why its account list refuses a token that it has just issued, naming the time and the status above.',
    'bank-error':
      'Ask the bank whether its account service is up, with the time and the problem above. It has issued a token, so certificate and credentials are fine.',
    'bank-timeout':
      'Ask the bank whether its account service is slow or down, naming the time; it has issued a token. If it is only slow, raise BANK_REQUEST_TIMEOUT_MS, or ask for less at once with BANK_PAGE_SIZE.',
    'bank-response-invalid':
      'Report the time and the problem above to the bank. If the answer is too large, lower BANK_PAGE_SIZE or raise BANK_MAX_RESPONSE_BYTES.',
  },
  shape: {
    'bank-response-invalid':
      'Check that BANK_BASE_URL leads to the account list itself (a portal or a proxy may answer in its place); if it does, send the bank the time and the place named above, and ask what has changed in its answer.',
  },
};

/** What the one who must act can do about a failed step; never "run the doctor". */
export function remedyFor(step: StepName, code: ProblemCode): string {
  return REMEDIES[step]?.[code] ?? PROBLEMS[code].remedy;
}
