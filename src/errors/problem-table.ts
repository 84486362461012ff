export const OWNERS = ['caller', 'operator', 'network', 'bank'] as const;
export type Owner = (typeof OWNERS)[number];

export interface Problem {
  /** HTTP status; null for a code that no response has: only /health, or the typed client. */
  readonly status: number | null;
  /** The party that must act. */
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

const DOCTOR = '[Run the doctor](troubleshooting.md#the-doctor): it names the step that fails, and the reason.';
const REPORT = 'Report it to the bank.';
const COPY_REPORT = 'Copy the report on the status page, and send it too.';
const ALLOWLIST =
  'Some banks drop or reset connections from an address that is not on their allowlist. Ours is `EGRESS_PUBLIC_ADDRESS`, if that is set.';
const KEEP_RUNNING =
  'Do not restart the gateway: it retries, and a restart drops the cached copy, unless `SNAPSHOT_FILE` or `REDIS_URL` stores it.';
const END_BACK_OFF = 'Then [reload](troubleshooting.md#commands): this ends the back-off of up to 300 seconds.';
const LATE_CERTIFICATE =
  'If all of this is right, the bank may ask for the certificate after the handshake: [restart](troubleshooting.md#commands) with `BANK_TLS_MAX_VERSION=1.2`.';
const TRY_PROXY = 'Try the proxy without the gateway: `curl -v -x <proxy> https://<host of BANK_BASE_URL>`.';

/** Every error of the gateway: the source of /problems, /health, the doctor, the OpenAPI document and docs/errors.md. */
export const PROBLEMS = {
  'invalid-request': {
    status: 400,
    owner: 'caller',
    title: 'A parameter is wrong',
    when: 'A query parameter is unknown, repeated or has a wrong value. `errors` names each.',
    steps: ['Correct the parameters that `errors` names.', 'Look up their limits in `/docs`.'],
  },
  'malformed-request': {
    status: 400,
    owner: 'caller',
    title: 'The request is not valid HTTP',
    when: 'The request cannot be parsed, has two Host headers, or an absolute URL as its target.',
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
    steps: ['Retry the call.', 'Look for a client that sends nothing, or a network that stalls.'],
  },
  'request-too-large': {
    status: 413,
    owner: 'caller',
    title: 'The request is too large',
    when: 'The body (413), the URL (414) or the header (431) is too large.',
    steps: ['Send a shorter request.', 'Remove cookies and bodies, and shorten the query.'],
  },
  'client-not-allowed': {
    status: 403,
    owner: 'caller',
    title: 'This client is not allowed',
    when: "The client's address is not in ALLOWED_CLIENTS, or a page of another site made the call.",
    steps: [
      'Call from an allowed network, or ask the operator to allow this client.',
      'Find the log line with the `requestId`: `client` is the address, `origin` the page.',
      'If the app may call, add them to `ALLOWED_CLIENTS` or `CORS_ORIGINS`, and [restart](troubleshooting.md#commands).',
    ],
  },
  'not-found': {
    status: 404,
    owner: 'caller',
    title: 'No such route',
    when: 'No route has this path.',
    steps: ['Correct the path. `/docs` lists the routes.', 'Look for a proxy that adds or removes a prefix.'],
  },
  'account-not-found': {
    status: 404,
    owner: 'caller',
    title: 'No such account',
    when: 'The current snapshot has no account with this id.',
    steps: [
      'Use an `id` from the list of accounts. An IBAN is not an id.',
      'Search for the account: `/api/v1/accounts?q=` finds names and IBANs.',
      'If it is new, request a refresh: `curl -H "Cache-Control: no-cache" http://localhost:3000/api/v1/accounts`. If it is still missing, ask the bank whether the M2M user may see it.',
    ],
  },
  'method-not-allowed': {
    status: 405,
    owner: 'caller',
    title: 'This method is not allowed',
    when: 'The method is not GET or HEAD. This API is read-only.',
    steps: ['Use GET or HEAD.'],
  },
  'not-acceptable': {
    status: 406,
    owner: 'caller',
    title: 'No acceptable format',
    when: 'The `Accept` header excludes every format of this route.',
    steps: ['Accept application/json, or remove the `Accept` header.', 'Look up the formats of the route in `/docs`.'],
  },
  'host-not-allowed': {
    status: 421,
    owner: 'caller',
    title: 'This host name is not allowed',
    when: 'The `Host` header is not in ALLOWED_HOSTS.',
    steps: [
      'Call an allowed name, or ask the operator to allow this one.',
      'If the name is right, add it to `ALLOWED_HOSTS`, and [restart](troubleshooting.md#commands).',
      'Behind a proxy, check whether it passes `Host` on.',
    ],
  },
  'credentials-rejected': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected the user name or password',
    when: 'The token endpoint returned 400 or 401, which some banks also do for an address that is not on their allowlist.',
    steps: [
      'Put the right BANK_USERNAME and BANK_PASSWORD in place. If they are right, ask the bank whether the M2M user is active and our address is on its allowlist.',
      'Files (`BANK_USERNAME_FILE`, `BANK_PASSWORD_FILE`) are loaded within 5 seconds. After a change of a variable, [restart](troubleshooting.md#commands).',
      END_BACK_OFF,
      'Run [the doctor](troubleshooting.md#the-doctor) at most once: each run tries the password again.',
      LATE_CERTIFICATE,
    ],
    request: 'Please tell us whether our user is active, and whether our address is on your allowlist.',
  },
  // its `detail` describes what the bank did: tls-words.ts and answer-error.ts in egress/
  'certificate-rejected': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected our client certificate',
    when: 'The bank ended the TLS connection because of our certificate, or sent a page that reports it. Or it has never answered this certificate, and closed two connections after a full handshake over TLS 1.3, but not a third over TLS 1.2.',
    steps: [
      'Ask the bank why it rejects our certificate. It needs the thumbprint, and can check its registration, revocation and the allowlist.',
      DOCTOR,
      'Check that the file has the intermediate certificates.',
      'If the bank expects another certificate, install that one. Files are loaded within 5 seconds.',
      END_BACK_OFF,
      LATE_CERTIFICATE,
    ],
    request: 'Please tell us why you reject this certificate, and whether our address is on your allowlist.',
  },
  'certificate-unusable': {
    status: 503,
    owner: 'operator',
    title: 'A certificate cannot be used',
    when: 'The client certificate has expired, is not valid yet, or cannot be read. In /health also: a new certificate of this API.',
    steps: [
      'Install a valid certificate with its key. If the message names another file, correct that one.',
      'For the bank, it is BANK_PFX_FILE with its passcode, or BANK_CERT_FILE with BANK_KEY_FILE. For this API: TLS_CERT_FILE with TLS_KEY_FILE.',
      'For the reason, [run the doctor](troubleshooting.md#the-doctor) with `--offline`.',
      'If it has expired, order a new one from its issuer. If it is not valid yet, check the clock of this machine: `date -u`.',
      'Files are loaded within 5 seconds, without a restart.',
    ],
  },
  'address-not-allowed': {
    status: 502,
    owner: 'operator',
    title: 'The bank does not allow our address',
    when: "The token endpoint returned 403. Our public address is probably not on the bank's allowlist.",
    steps: [
      'Ask the bank to put our address on its allowlist.',
      COPY_REPORT,
      'To find the address that the bank sees, look at `EGRESS_PUBLIC_ADDRESS`, or ask the network team. If it has changed, ask them to restore the old route.',
      END_BACK_OFF,
    ],
    request: 'Please put our address on your allowlist, and tell us when it is done.',
  },
  'access-not-granted': {
    status: 502,
    owner: 'bank',
    title: 'The bank has granted no accounts',
    when: 'The account list returned 404. The M2M user has no accounts, or the path in BANK_BASE_URL is wrong.',
    steps: [
      'Ask the bank to grant the M2M user access to the accounts. If the gateway never worked with these settings, first check the path in BANK_BASE_URL.',
      DOCTOR,
      END_BACK_OFF,
    ],
    request: 'Please grant the user of this certificate access to its accounts, and tell us when it is done.',
  },
  'bank-untrusted': {
    status: 502,
    owner: 'operator',
    title: "The bank's server is not trusted",
    when: "The server's certificate has expired, is for another name, or is from no trusted CA, or there is no common TLS version or cipher.",
    steps: [
      "Check BANK_BASE_URL, BANK_AUTH_URL and BANK_CA_FILE. [The doctor](troubleshooting.md#the-doctor) shows what is wrong, and the issuer of the server's certificate.",
      'If the bank uses a private CA, set `BANK_CA_FILE` to its certificate, and [restart](troubleshooting.md#commands).',
      'If the issuer is your own company, a proxy intercepts TLS: ask the network team to exempt the host of the bank.',
      'If the certificate has expired, check the clock of this machine (`date -u`), then report it to the bank, as a missing common version or cipher.',
    ],
  },
  'bank-refused': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected the request',
    when: 'The bank returned an unexpected 4xx status or a redirect.',
    steps: [
      'Compare BANK_BASE_URL and BANK_AUTH_URL with the addresses from the bank. A redirect, or a 404 for the token, means a wrong address. For a 403, ask the bank about its allowlist.',
      'If they are right, ask the bank why it rejects our calls. It needs the time and the status.',
      DOCTOR,
      KEEP_RUNNING,
    ],
    request: 'Please tell us why you reject our calls, and whether our address is on your allowlist.',
  },
  'bank-response-invalid': {
    status: 502,
    owner: 'bank',
    title: "The bank's response cannot be used",
    when: 'The response is not JSON, is cut off, is too large, or lacks a required value. `detail` names the place.',
    steps: [
      REPORT,
      COPY_REPORT,
      'Check that `BANK_BASE_URL` is the address of the account service: [run the doctor](troubleshooting.md#the-doctor).',
    ],
    request: 'Please correct the response, and tell us when it is done.',
    heals: true,
  },
  'bank-unreachable': {
    status: 503,
    owner: 'network',
    title: 'The bank cannot be reached',
    when: 'No DNS, no route, or a connection that was refused, closed without an answer, or too slow (`detail`: DNS, TCP or TLS). Or the egress proxy could not reach the bank (502, 503, 504).',
    steps: [
      'Report it to the network team. They can check DNS, firewall and route to the host and port of BANK_BASE_URL and BANK_AUTH_URL. If it never worked from here, also ask the bank whether our address is on its allowlist. If the egress proxy could not reach the bank, ask the bank first.',
      DOCTOR,
      'Look up the name: `getent hosts <host of BANK_BASE_URL>`. With an egress proxy, the proxy does this.',
      'Connect from the machine of the gateway: `curl -v https://<host of BANK_BASE_URL>`, with an egress proxy `curl -v -x <proxy> https://<host of BANK_BASE_URL>`.',
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
    when: 'The bank returned a 5xx status or 408, or ended TLS with an internal error.',
    steps: [REPORT, COPY_REPORT, 'See when it began: `events` in `/health/recent`.', KEEP_RUNNING],
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
    when: 'The gateway connected, but got no TLS handshake or no complete response within the deadlines.',
    steps: [
      'Report it to the bank. If it never worked from here, ask whether our address is on its allowlist.',
      COPY_REPORT,
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
    when: '`detail` contains the status of the egress proxy, what is wrong with its TLS, or that the tunnel leads to no TLS server. On a 401 or 407, and on an https proxy that is not trusted or wants a certificate, the operator must act.',
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
    when: 'The connection to the egress proxy failed, or it closed the connection without an answer.',
    steps: [
      'Report it to the network team. First check EGRESS_PROXY_URL (without it, HTTPS_PROXY counts), and EGRESS_PROXY_CA_FILE for an https:// proxy.',
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
    when: 'More requests wait than MAX_REQUESTS_WAITING allows, too many downloads run, too many response bytes are on their way, too many files are open, a response took too long, or the list needs more memory.',
    steps: [
      'Find out which app calls too often, or whether the bank is slow. The status page shows both. If there are too many open files, raise their limit.',
      'Ask the team of that app to poll with `If-None-Match`, at most every `max-age` seconds.',
      'Compare CPU, memory and [open files](deploy.md#size) of this machine with what the list needs. The limit of open files is `LimitNOFILE` on systemd, `--ulimit nofile` with Docker.',
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
      'Repeat the call: a load balancer sends it to another instance.',
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
      'The `requestId` of the response finds [the log lines](troubleshooting.md#commands).',
      'A [restart](troubleshooting.md#commands) may help for a while.',
    ],
  },
  'network-error': {
    status: null,
    owner: 'network',
    title: 'The gateway does not answer',
    when: 'The typed client got no response. Its message names the address that it tried.',
    steps: [
      "Compare the address in the message with the gateway's: host, port, path prefix.",
      'Call it from the same machine: `curl -i <address>`. If that fails, the gateway is down, or DNS, a firewall or a proxy is in between.',
      'If `curl` succeeds and a page fails, read its console. Let the dev server forward `/api`, or let the operator [list the origin](web-apps.md#cors-and-https) in `CORS_ORIGINS`.',
    ],
    heals: true,
  },
  'certificate-expiring': {
    status: null,
    owner: 'operator',
    title: 'A certificate expires soon',
    when: 'The client certificate, or the certificate of this API, expires in less than 30 days.',
    steps: [
      'Install a new certificate. Order it from the issuer of the current one.',
      'See which one it is: in `/health`, `certificate` is the one for the bank, `listener` that of this API.',
      '[Check the new file](certificates.md#renew-the-certificate) before you install it.',
      'Replace the old file. Within 5 seconds the gateway takes the new one; for the bank, only if a test there succeeds. The log: `certificate.replaced` or `certificate.refused`.',
    ],
  },
  'bank-slow': {
    status: null,
    owner: 'bank',
    title: 'The bank is slow',
    when: 'A refresh takes longer than SNAPSHOT_SOFT_TIMEOUT_MS. Apps get the cached snapshot, marked stale.',
    steps: [
      REPORT,
      COPY_REPORT,
      'See for how long: `bankP50Ms` in `/health/recent`.',
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
      'Tell the teams of the apps: an empty list does not prove that accounts were closed.',
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
      'Ours is `date -u`. If it is wrong, correct the time service of the host (`timedatectl`). If it is right, report the `Date` header to the bank.',
    ],
  },
  'snapshot-not-stored': {
    status: null,
    owner: 'operator',
    title: 'The snapshot cannot be written to its file',
    when: 'SNAPSHOT_FILE cannot be written. Apps get current data, but after a restart the first calls wait for the bank.',
    steps: [
      "Make the directory of SNAPSHOT_FILE writable. It must exist, belong to the gateway's user, and have space. In a container, mount this directory, not the file.",
      'Look at it: `ls -ld <directory>` and `df -h <directory>`.',
      'On systemd use `/var/lib/accounts-gateway/snapshot`, with Docker a volume, in Kubernetes an `emptyDir`. After a change of `SNAPSHOT_FILE`, [restart](troubleshooting.md#commands).',
    ],
  },
  'sharing-unavailable': {
    status: null,
    owner: 'operator',
    title: 'Redis cannot be used',
    when: 'Redis is unreachable, slow, full, read-only, or denies access. This instance refreshes on its own.',
    steps: [
      'Repair the Redis of REDIS_URL, or correct REDIS_URL. Redis must run, be reachable, have free memory, and let this user write.',
      'See the reason: `sharing` in `/health`.',
      'Try Redis from the machine of the gateway: `redis-cli -u <REDIS_URL> ping`, for `rediss://` with `--cacert <REDIS_CA_FILE>`.',
      "If it is full, ask its administrator for `info memory`. If it denies access, compare the user's ACL with [fleet.md](fleet.md#settings).",
      '[Restart](troubleshooting.md#commands) only after a change of `REDIS_URL`: otherwise the gateway uses Redis again by itself (`sharing.recovered`).',
    ],
    heals: true,
  },
} as const satisfies Record<string, Problem>;

/** Every code, including those that no response has. */
export type AnyCode = keyof typeof PROBLEMS;

/** The codes of responses. */
export type ProblemCode = {
  [Code in AnyCode]: (typeof PROBLEMS)[Code]['status'] extends number ? Code : never;
}[AnyCode];

export const ALL_CODES = Object.keys(PROBLEMS) as AnyCode[];

export const PROBLEM_CODES = ALL_CODES.filter((code): code is ProblemCode => PROBLEMS[code].status !== null);

/** A code with the party that must act, as log lines have them. */
export const withOwner = <Code extends AnyCode>(code: Code) => ({ code, owner: PROBLEMS[code].owner });

/** The first step of a code, as plain text. */
export const remedyOf = (code: AnyCode): string => toPlainText(PROBLEMS[code].steps[0]);

/** A step without link addresses. */
export const toPlainText = (step: string): string => step.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
