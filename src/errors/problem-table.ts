export const OWNERS = ['caller', 'operator', 'network', 'bank'] as const;
export type Owner = (typeof OWNERS)[number];

export interface Problem {
  /** HTTP status; null for a code that no problem document has: of /health, log and doctor, or of the typed client. */
  readonly status: number | null;
  /** The party that must act, unless an error names another one. */
  readonly owner: Owner;
  readonly title: string;
  readonly when: string;
  /**
   * Steps to take, in order, as Markdown with links between documents. The first step is the remedy. Its first sentence
   * is an instruction that "now" or "before 06:10:14" can complete. It also fits the doctor, which tries only once.
   */
  readonly steps: readonly [string, ...string[]];
  /** The request to the bank or the network team; ends the text that the status page copies. */
  readonly request?: string;
  /** True if the problem may end without intervention. */
  readonly heals?: true;
}

const DOCTOR = '[Run the doctor](troubleshooting.md#the-doctor).';
const REPORT = 'Report it to the bank.';
const SEND_REPORT = "Send the status page's report too.";
const ALLOWLIST =
  'Some banks drop or reset connections from an address that is not on their allowlist. Has ours (`EGRESS_PUBLIC_ADDRESS`) changed?';
const KEEP_RUNNING = 'Do not restart the gateway: it retries.';
const END_BACK_OFF = 'Then [reload](troubleshooting.md#commands), which ends the back-off of up to 300 seconds.';
const TRY_PROXY = 'Try the proxy without the gateway: `curl -v -x <proxy> https://<host of BANK_BASE_URL>`.';

/** Every code but the doctor's own three (doctor/steps.ts): the source of /problems, OpenAPI and docs/errors.md. */
export const PROBLEMS = {
  'invalid-request': {
    status: 400,
    owner: 'caller',
    title: 'A parameter is wrong',
    when: 'A parameter is unknown, repeated or has a wrong value.',
    steps: ['Correct the parameters that `errors` names.'],
  },
  'malformed-request': {
    status: 400,
    owner: 'caller',
    title: 'The request is not valid HTTP',
    when: 'The request or its URL is not valid, for example with two `Host` headers or an absolute URL.',
    steps: [
      'Send a plain HTTP/1.1 request with one `Host` header and a path.',
      'If curl succeeds, look for a proxy that doubles `Host` or sends an absolute URL.',
    ],
  },
  'request-timeout': {
    status: 408,
    owner: 'caller',
    title: 'The request arrived too slowly',
    when: 'The headers or the body of the request did not arrive in time.',
    steps: ['Retry the call.', 'Look for a client or a network that stalls.'],
  },
  'request-too-large': {
    status: 413,
    owner: 'caller',
    title: 'The request is too large',
    when: 'The body is too large or not allowed (413), a part of the path is too large (414), or URL and header together are (431).',
    steps: ['Send a shorter request, without a body and cookies.'],
  },
  'client-not-allowed': {
    status: 403,
    owner: 'caller',
    title: 'This client is not allowed',
    when: "The client's address is not in ALLOWED_CLIENTS, or a page of another origin made the call.",
    steps: [
      'Call from an allowed network, or ask the operator to allow this client.',
      'Find the log line with the `requestId`: `client` is the address, `origin` the page.',
      'If the app may call, add the one to `ALLOWED_CLIENTS` or the other to `CORS_ORIGINS`, and [restart](troubleshooting.md#commands).',
    ],
  },
  'not-found': {
    status: 404,
    owner: 'caller',
    title: 'No such route',
    when: 'No route or page has this path.',
    steps: [
      'Correct the path. `/docs` lists the routes of the API.',
      'Look for a proxy that adds or removes a prefix.',
    ],
  },
  'account-not-found': {
    status: 404,
    owner: 'caller',
    title: 'No such account',
    when: 'The current snapshot has no account with this id.',
    steps: [
      'Use an `id` from the list of accounts. An IBAN is not an id.',
      'Find it by name or IBAN: `/api/v1/accounts?q=`.',
      'If it is new, request a refresh: `curl -H "Cache-Control: no-cache" http://localhost:3000/api/v1/accounts`. If it is still missing, ask the bank whether the M2M user may see it.',
    ],
  },
  'method-not-allowed': {
    status: 405,
    owner: 'caller',
    title: 'This method is not allowed',
    when: 'The method is not GET, HEAD or OPTIONS.',
    steps: ['Use GET or HEAD.'],
  },
  'not-acceptable': {
    status: 406,
    owner: 'caller',
    title: 'No acceptable format',
    when: 'The `Accept` header excludes every format of this route.',
    steps: ['Accept application/json, or remove the `Accept` header.'],
  },
  'host-not-allowed': {
    status: 421,
    owner: 'caller',
    title: 'This host name is not allowed',
    when: 'The `Host` header is not in ALLOWED_HOSTS.',
    steps: [
      'Call an allowed name, or ask the operator to allow this one.',
      'If the name is right, add it to `ALLOWED_HOSTS`, and [restart](troubleshooting.md#commands).',
      'Behind a proxy, check the `Host` that it sends.',
    ],
  },
  'credentials-rejected': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected the user name or password',
    when: 'The token endpoint returned 400 or 401, which some banks also do for an address that is not on their allowlist.',
    steps: [
      'Put the right BANK_USERNAME and BANK_PASSWORD in place. If they are right, ask the bank whether the M2M user is active and our address is on its allowlist.',
      'Changed files (`BANK_USERNAME_FILE`, `BANK_PASSWORD_FILE`) are read within 5 seconds. After a change of a variable, [restart](troubleshooting.md#commands).',
      END_BACK_OFF,
      'Run [the doctor](troubleshooting.md#the-doctor) at most once: each run tries the password again.',
      'If all of this is right, the bank may ask for the certificate after the handshake: [restart](troubleshooting.md#commands) with `BANK_TLS_MAX_VERSION=1.2`.',
    ],
    request: 'Please tell us whether our user is active, and whether our address is on your allowlist.',
  },
  'certificate-rejected': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected our client certificate',
    when: 'The bank sent a TLS alert or a page about our certificate, or closed connections as after a rejection.',
    steps: [
      'Ask the bank why it rejects our certificate. It needs the thumbprint, and can check its registration, revocation and the allowlist.',
      DOCTOR,
      'Check that the file has the intermediate certificates.',
      'If the bank expects another certificate, install that one. Changed files are read within 5 seconds.',
      END_BACK_OFF,
    ],
    request: 'Please tell us why you reject this certificate, and whether our address is on your allowlist.',
  },
  'certificate-unusable': {
    status: 503,
    owner: 'operator',
    title: 'A certificate cannot be used',
    when: 'The client certificate has expired or is not valid yet. In /health and the log also: a certificate, key or secret file cannot be used.',
    steps: [
      'Install a valid certificate with its key. If the message names another file, correct that one.',
      'For the bank, it is `BANK_PFX_FILE` or `BANK_PFX_BASE64`, or `BANK_CERT_FILE` with `BANK_KEY_FILE`. For this API, it is `TLS_CERT_FILE` with `TLS_KEY_FILE`.',
      'For the reason, [run the doctor](troubleshooting.md#the-doctor) with `--offline`.',
      'If it has expired, order a new one from its issuer. If it is not valid yet, check the clock of this machine: `date -u`.',
      'Changed files are read within 5 seconds, without a restart.',
    ],
  },
  'address-not-allowed': {
    status: 502,
    owner: 'operator',
    title: 'The bank does not allow our address',
    when: "The token endpoint returned 403. Our public address is probably not on the bank's allowlist.",
    steps: [
      'Ask the bank to put our address on its allowlist.',
      SEND_REPORT,
      'To find the address that the bank sees, look at `EGRESS_PUBLIC_ADDRESS`, or ask the network team. If it has changed, ask them to restore the old route.',
      END_BACK_OFF,
    ],
    request: 'Please put our address on your allowlist, and tell us when it is done.',
  },
  'access-not-granted': {
    status: 502,
    owner: 'bank',
    title: 'The bank has granted no accounts',
    when: 'The account list returned 404. Probably the M2M user has no accounts, or the path in BANK_BASE_URL is wrong.',
    steps: [
      'Ask the bank to grant the M2M user access to the accounts. If the gateway never worked with these settings, first check the path in BANK_BASE_URL.',
      DOCTOR,
    ],
    request: 'Please grant the user of this certificate access to its accounts, and tell us when it is done.',
  },
  'bank-untrusted': {
    status: 502,
    owner: 'operator',
    title: "The bank's server is not trusted",
    when: "The server's certificate is not trusted, or TLS with it is not possible (no common version or cipher, a server without TLS). `detail` gives the reason.",
    steps: [
      'Check BANK_BASE_URL, BANK_AUTH_URL and BANK_CA_FILE. [The doctor](troubleshooting.md#the-doctor) shows what is wrong.',
      'If the bank uses a private CA, set `BANK_CA_FILE` to its certificate, and [restart](troubleshooting.md#commands).',
      'If the doctor shows your own company as the issuer, a proxy intercepts TLS: ask the network team to exempt the bank.',
      'If the certificate has expired, check the clock of this machine: `date -u`. If it is right, report the certificate to the bank.',
    ],
  },
  'bank-refused': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected the request',
    when: 'The bank returned an unexpected 4xx status or a redirect.',
    steps: [
      'Compare BANK_BASE_URL and BANK_AUTH_URL with the addresses from the bank. A redirect, or a 404 for the token, suggests a wrong address. For a 403, ask the bank about its allowlist.',
      'If they are right, ask the bank why it rejects our calls. It needs the time, the status and our address (`EGRESS_PUBLIC_ADDRESS`).',
      DOCTOR,
      'After a change of an address, [restart](troubleshooting.md#commands).',
    ],
    request: 'Please tell us why you reject our calls, and whether our address is on your allowlist.',
  },
  'bank-response-invalid': {
    status: 502,
    owner: 'bank',
    title: "The bank's response cannot be used",
    when: 'The response is cut off, is not JSON, is too large, lacks a required value, or has another error that `detail` names.',
    steps: [
      REPORT,
      SEND_REPORT,
      'Check `BANK_BASE_URL` and `BANK_AUTH_URL`: [run the doctor](troubleshooting.md#the-doctor).',
    ],
    request: 'Please correct the response, and tell us when it is done.',
    heals: true,
  },
  'bank-unreachable': {
    status: 503,
    owner: 'network',
    title: 'The bank cannot be reached',
    when: 'DNS or TCP failed or took too long, or the connection was closed before an answer or reset during one (`detail`). Or the egress proxy could not reach the bank (500, 502, 503, 504).',
    steps: [
      'Report it to the network team. They can check DNS, firewall and route to the bank. If it never worked from here, also ask the bank whether our address is on its allowlist. If the egress proxy could not reach the bank, ask the bank first.',
      DOCTOR,
      'Look up the name, unless an egress proxy does: `getent hosts <host of BANK_BASE_URL>`.',
      'Connect from the machine of the gateway: `curl -v https://<host of BANK_BASE_URL>`, with an egress proxy `-x <proxy>` too.',
      ALLOWLIST,
      KEEP_RUNNING,
    ],
    request: 'Please check DNS, firewall and route from this machine to that host, and tell us what you find.',
    heals: true,
  },
  'bank-error': {
    status: 503,
    owner: 'bank',
    title: 'The bank returned a server error',
    when: 'The bank returned a 5xx status or 408, or ended TLS with alert 80 or 90.',
    steps: [REPORT, SEND_REPORT, KEEP_RUNNING],
    request: 'Please tell us what is wrong, and when your service will be back to normal.',
    heals: true,
  },
  'bank-rate-limited': {
    status: 503,
    owner: 'bank',
    title: 'The bank limits our request rate',
    when: 'The bank returned 429.',
    steps: [
      'Ask the bank for its limit. It may be able to raise it.',
      'Look for other programs that use the same M2M user.',
      'Raise `SNAPSHOT_FRESH_MS` or lower `BANK_MAX_CONCURRENT_REQUESTS`, and [restart](troubleshooting.md#commands).',
    ],
    request: 'Please tell us which limit we exceed, and whether you can raise it.',
    heals: true,
  },
  'bank-timeout': {
    status: 504,
    owner: 'bank',
    title: 'The bank did not answer in time',
    when: 'A TLS handshake, a response or the whole list did not arrive in time.',
    steps: [
      'Report it to the bank. If it never worked from here, ask whether our address is on its allowlist.',
      SEND_REPORT,
      DOCTOR,
      'If `tls` or `token` is the slow step, ask the network team whether a firewall drops packets.',
      ALLOWLIST,
      'If the bank stays slow, raise `BANK_REQUEST_TIMEOUT_MS` and `SNAPSHOT_READ_TIMEOUT_MS`, and [restart](troubleshooting.md#commands).',
    ],
    request: 'Please tell us why responses time out, and when the service will be back to normal.',
    heals: true,
  },
  'proxy-refused': {
    status: 502,
    owner: 'network',
    title: 'The egress proxy opened no tunnel',
    when: 'The egress proxy rejected CONNECT, its TLS failed, its answer cannot be used, or the tunnel leads to no TLS server (`detail`). After a 401 or 407, or if its TLS failed, the operator must act.',
    steps: [
      'Restore access through the proxy. For a 401 or 407, correct user and password in EGRESS_PROXY_URL (percent-encoded). For any other status, ask the network team to allow CONNECT to the host and port of the bank. Without a status, check http:// or https:// in EGRESS_PROXY_URL, and EGRESS_PROXY_CA_FILE.',
      DOCTOR,
      TRY_PROXY,
      'After a change of `EGRESS_PROXY_URL`, [restart](troubleshooting.md#commands).',
    ],
    request: 'Please allow CONNECT to that host and port, and tell us when it is done.',
  },
  'proxy-unavailable': {
    status: 503,
    owner: 'network',
    title: 'The egress proxy did not answer',
    when: 'The connection to the egress proxy failed or was closed without a whole answer, or it opened no tunnel in time.',
    steps: [
      'Report it to the network team. First check EGRESS_PROXY_URL (without it, HTTPS_PROXY counts).',
      DOCTOR,
      TRY_PROXY,
    ],
    request: 'Please check the egress proxy, and tell us what you find.',
    heals: true,
  },
  overloaded: {
    status: 503,
    owner: 'operator',
    title: 'The gateway is overloaded',
    when: 'Requests that wait (MAX_REQUESTS_WAITING), downloads, response bytes, open files, the time for a response, or memory for the list reached a limit. `detail` names it.',
    steps: [
      'Find out which app calls too often, or whether the bank is slow. The status page shows both. If there are too many open files, raise their limit.',
      'Ask the team of that app to [poll](api.md#freshness) with `If-None-Match`.',
      'Compare CPU, memory and open files with [what the gateway needs](deploy.md#size). The limit of open files is `LimitNOFILE` on systemd, `--ulimit nofile` with Docker.',
      'If the load is expected, raise `MAX_REQUESTS_WAITING` and [restart](troubleshooting.md#commands), or add an instance.',
    ],
    heals: true,
  },
  stopping: {
    status: 503,
    owner: 'operator',
    title: 'This instance is stopping',
    when: 'This instance is shutting down.',
    steps: [
      'Check that this instance starts again, or that another one answers.',
      'If it does not start, [read its last log lines](troubleshooting.md#commands).',
    ],
    heals: true,
  },
  'internal-error': {
    status: 500,
    owner: 'operator',
    title: 'Internal error',
    when: 'The gateway ran into an unexpected error.',
    steps: [
      'Send the log lines of this time and the version to the maintainers of the gateway.',
      '[The log lines](troubleshooting.md#commands) have the `requestId` of the response.',
      'A [restart](troubleshooting.md#commands) may help for a while.',
    ],
  },
  'network-error': {
    status: null,
    owner: 'network',
    title: 'The gateway does not answer',
    when: 'The typed client got no response, or only a part of one.',
    steps: [
      "Compare the address in the message with the gateway's: host, port, path prefix.",
      'Call it from the same machine: `curl -i <address>`. If that fails, look for a gateway that is down, DNS, a firewall or a proxy.',
      'If `curl` succeeds and a page fails, let the dev server forward `/api`, or the operator [list the origin](web-apps.md#cors-and-https) in `CORS_ORIGINS`.',
    ],
    heals: true,
  },
  'certificate-expiring': {
    status: null,
    owner: 'operator',
    title: 'A certificate expires soon',
    when: 'The client certificate, or that of this API, expires in less than 30 days (in the log: 60), or that of this API has expired.',
    steps: [
      'Install a new certificate. Order it from the issuer of the current one.',
      'See which one it is: in `/health`, `certificate` is the one for the bank, `listener` that of this API.',
      'For the bank, [check and replace the file](certificates.md#renew-the-certificate). For this API, replace `TLS_CERT_FILE` and `TLS_KEY_FILE`. Changed files need no restart.',
    ],
  },
  'bank-slow': {
    status: null,
    owner: 'bank',
    title: 'The bank is slow',
    when: 'A refresh has waited for the bank longer than SNAPSHOT_SOFT_TIMEOUT_MS. Meanwhile apps got the cached snapshot, if there was one.',
    steps: [
      REPORT,
      SEND_REPORT,
      'If it is slow every day, raise `SNAPSHOT_SOFT_TIMEOUT_MS`, and [restart](troubleshooting.md#commands).',
    ],
    request: 'Please tell us why your service is slow, and when it will be faster again.',
    heals: true,
  },
  'accounts-emptied': {
    status: null,
    owner: 'bank',
    title: 'The bank lists no accounts',
    when: 'The last refresh returned no accounts.',
    steps: [
      'Ask the bank which accounts the M2M user may see.',
      'Check that the list is still empty: `curl -H "Cache-Control: no-cache" http://localhost:3000/api/v1/accounts`.',
      'If an empty list is right, silence the alert AccountsGatewayNoAccounts: `/health` stays degraded.',
    ],
    request: 'Please check which accounts the user of this certificate may see, and tell us why there are none.',
  },
  'clock-skewed': {
    status: null,
    owner: 'operator',
    title: "This machine's clock and the bank's differ",
    when: 'The clocks of the bank (`Date` header) and of this machine differ by more than 30 seconds.',
    steps: [
      "Compare this machine's clock and the bank's with a third one. Correct ours, or report the bank's.",
      'Ours is `date -u`, and `timedatectl` shows its time service. The bank sends its own in the `Date` header.',
    ],
  },
  'snapshot-not-stored': {
    status: null,
    owner: 'operator',
    title: 'The snapshot cannot be written to its file',
    when: 'SNAPSHOT_FILE cannot be written. After a restart, the first calls may have to wait for the bank.',
    steps: [
      "Make the directory of SNAPSHOT_FILE writable. It must exist, belong to the gateway's user, and have space. In a container, mount this directory, not the file.",
      'On systemd use `/var/lib/accounts-gateway/snapshot`, with Docker a volume, in Kubernetes an `emptyDir`. After a change of `SNAPSHOT_FILE`, [restart](troubleshooting.md#commands).',
    ],
  },
  'sharing-unavailable': {
    status: null,
    owner: 'operator',
    title: 'Redis cannot be used',
    when: 'Redis cannot be used: for example, it is unreachable, slow, full, read-only, a cluster or a Sentinel, denies access, or its clock is more than a day off. This instance refreshes on its own.',
    steps: [
      'Repair the Redis of REDIS_URL, or correct REDIS_URL. Redis must run, be reachable, have free memory, and let this user write.',
      'See the reason: `sharing` in `/health`.',
      'Try Redis from the machine of the gateway: `redis-cli -u <REDIS_URL> ping`, for `rediss://` with `--cacert <REDIS_CA_FILE>`.',
      "If it is full, ask its administrator for `info memory`. If it denies access, compare the user's ACL with [fleet.md](fleet.md#settings).",
      '[Restart](troubleshooting.md#commands) only after a change of a variable: the gateway uses Redis again by itself (`sharing.recovered`).',
    ],
    heals: true,
  },
} as const satisfies Record<string, Problem>;

export type AnyCode = keyof typeof PROBLEMS;

/** The codes of problem documents. */
export type ProblemCode = {
  [Code in AnyCode]: (typeof PROBLEMS)[Code]['status'] extends number ? Code : never;
}[AnyCode];

export const ALL_CODES = Object.keys(PROBLEMS) as AnyCode[];

export const PROBLEM_CODES = ALL_CODES.filter((code): code is ProblemCode => PROBLEMS[code].status !== null);

/** A code with the party that must act. */
export const withOwner = <Code extends AnyCode>(code: Code) => ({ code, owner: PROBLEMS[code].owner });

/** The first step of a code, as plain text. */
export const remedyOf = (code: AnyCode): string => toPlainText(PROBLEMS[code].steps[0]);

/** A step without link addresses. */
export const toPlainText = (step: string): string => step.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
