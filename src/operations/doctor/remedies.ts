import { PROBLEMS, type AnyCode } from '../../errors/problem-table.js';

const RUN_AGAIN = 'Run the doctor again in a few minutes.';

/**
 * Remedies that differ from those of /problems, which describe a gateway that retries and reloads. The doctor tries once,
 * perhaps where no gateway runs.
 */
const REMEDIES: Readonly<Partial<Record<AnyCode, string>>> = {
  'certificate-expiring': 'Order a new client certificate from the bank now, and install it.',
  'certificate-rejected':
    'Ask the bank whether it expects the certificate whose thumbprint the step `certificate` shows, and whether our address is on its allowlist. Check that the file contains the intermediate certificates.',
  'certificate-unusable': 'Install a valid certificate and its passcode.',
  'bank-unreachable':
    'Ask the network team about DNS, firewall and route to the host and port of BANK_BASE_URL and BANK_AUTH_URL. This report is the text for the ticket.',
  'bank-error': `${RUN_AGAIN} If it persists, ask the bank about the state of its service, with the time and the status code.`,
  'bank-rate-limited': `${RUN_AGAIN} If it persists, look for other programs that use the same M2M user.`,
  'bank-refused':
    'Check BANK_BASE_URL and BANK_AUTH_URL, and whether our address is on the allowlist. Then ask the bank, with the time and the status above.',
  'bank-response-invalid':
    'Check that BANK_BASE_URL is the address of the account service. If it is, report the time and the place above to the bank.',
  'bank-timeout': `${RUN_AGAIN} If it persists, ask the bank about the state of its service, with the time.`,
  'sharing-unavailable':
    'Check the Redis of REDIS_URL: that it runs, can be reached, has free memory, and allows this user to write.',
};

export const remedyFor = (code: AnyCode): string => REMEDIES[code] ?? PROBLEMS[code].remedy;
