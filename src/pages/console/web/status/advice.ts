import type { ProblemEntry } from '../shared/gateway.js';

/** What to do about a code. `{when}` is where the deadline goes. */
export interface Advice {
  readonly text: string;
  /** Whom to call, beside or in place of the owner. */
  readonly call?: 'bank' | 'network';
  /** True if it may end without anybody. */
  readonly heals?: true;
  /** True where the bank's allowlist may be the cause. */
  readonly allowlist?: true;
  /** The request at the end of the report; without one there is no report. */
  readonly request?: string;
}

const REPORT = { text: 'Report it to the bank {when}.', call: 'bank', heals: true } as const;
const REPORT_TO_NETWORK = {
  text: 'Report it to the network team {when}.',
  call: 'network',
  heals: true,
  request: 'Please check DNS, firewall and route from this machine to that host, and tell us what you find.',
} as const;

/** Codes of a call: no component of /health has them. */
type OfCall =
  | 'invalid-request'
  | 'malformed-request'
  | 'request-timeout'
  | 'request-too-large'
  | 'client-not-allowed'
  | 'not-found'
  | 'account-not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'host-not-allowed'
  | 'overloaded';

/** For an error of the gateway itself, and for a code that this page does not know. */
const OTHER: Advice = { text: 'Send the log lines of this time to the maintainers of the gateway {when}.' };

const ADVICE: Readonly<Record<Exclude<ProblemEntry['code'], OfCall>, Advice>> = {
  'bank-error': { ...REPORT, request: 'Please tell us what is wrong, and when your service will answer again.' },
  'bank-timeout': { ...REPORT, request: 'Please tell us why no answer comes in time, and when it will again.' },
  'bank-slow': { ...REPORT, request: 'Please tell us why your service is slow, and when it will be faster again.' },
  'bank-rate-limited': { ...REPORT, request: 'Please tell us which limit we exceed, and whether you can raise it.' },
  'bank-response-invalid': { ...REPORT, request: 'Please correct the answer, and tell us when it is done.' },
  'access-not-granted': {
    text: 'Ask the bank {when} to grant the accounts again.',
    call: 'bank',
    request: 'Please grant the user of this certificate access to its accounts, and tell us when it is done.',
  },
  'accounts-emptied': {
    text: 'Ask the bank {when} why its list is empty.',
    call: 'bank',
    request: 'Please check which accounts the user of this certificate may see, and tell us why there are none.',
  },
  'credentials-rejected': {
    text: 'Put the right BANK_USERNAME and BANK_PASSWORD in place {when}.',
    allowlist: true,
    request: 'Please tell us whether our user is active, and whether our address is on your allowlist.',
  },
  'certificate-rejected': {
    text: 'Ask the bank {when} why it refuses our certificate.',
    call: 'bank',
    allowlist: true,
    request: 'Please tell us why you refuse this certificate, and whether our address is on your allowlist.',
  },
  'certificate-unusable': { text: 'Install a valid client certificate {when}.' },
  'address-not-allowed': {
    text: 'Ask the bank {when} to put our address on its allowlist.',
    call: 'bank',
    allowlist: true,
    request: 'Please put our address on your allowlist, and tell us when it is done.',
  },
  'bank-untrusted': {
    text: 'Run `node dist/main.js doctor` {when}: it shows which certificate of the bank is not trusted.',
  },
  'bank-refused': {
    text: 'Ask the bank {when} why it refuses our calls.',
    call: 'bank',
    allowlist: true,
    request: 'Please tell us why you refuse our calls, and whether our address is on your allowlist.',
  },
  'bank-unreachable': REPORT_TO_NETWORK,
  'proxy-unavailable': { ...REPORT_TO_NETWORK, request: 'Please check the egress proxy, and tell us what you find.' },
  'proxy-refused': {
    text: 'Ask the network team {when} why the proxy opens no tunnel.',
    call: 'network',
    request: 'Please allow CONNECT to that host and port, and tell us when it is done.',
  },
  'certificate-expiring': { text: 'Install a new client certificate {when}.' },
  'clock-skewed': { text: 'Correct the clock of this machine {when}.' },
  'snapshot-not-stored': { text: 'Make SNAPSHOT_FILE writable {when}.' },
  'sharing-unavailable': { text: 'Repair the Redis of REDIS_URL {when}.', heals: true },
  stopping: { text: 'Check that this instance starts again, or that another one answers.' },
  'internal-error': OTHER,
};

/** The one piece of advice for a cause. */
export function toAdvice({ part, code, owner }: Record<'part' | 'code' | 'owner', string>): Advice {
  if (part === 'certificate' && code !== 'certificate-expiring' && code !== 'certificate-unusable') {
    return { text: 'Replace the refused certificate or credential files {when}.' };
  }
  if (part === 'listener') return { text: 'Install a new certificate for this API {when}.' };
  if (code === 'proxy-refused' && owner === 'operator') {
    return { text: 'Put the right user and password in EGRESS_PROXY_URL {when}.' };
  }
  return code in ADVICE ? ADVICE[code as keyof typeof ADVICE] : OTHER;
}
