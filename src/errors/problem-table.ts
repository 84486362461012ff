export const OWNERS = ['caller', 'operator', 'network', 'bank'] as const;
export type Owner = (typeof OWNERS)[number];

interface Problem {
  /** HTTP status; null for a state that only /health reports. */
  readonly status: number | null;
  /** The party that must act. */
  readonly owner: Owner;
  readonly title: string;
  readonly when: string;
  readonly remedy: string;
}

/** Every error of the gateway: the source of /problems, the OpenAPI document and docs/errors.md. */
export const PROBLEMS = {
  'invalid-request': {
    status: 400,
    owner: 'caller',
    title: 'A parameter is wrong',
    when: 'A query parameter is unknown, repeated or has a wrong value. `errors` names each.',
    remedy: 'Correct the parameters that `errors` names. /docs lists the allowed values.',
  },
  'malformed-request': {
    status: 400,
    owner: 'caller',
    title: 'The request is not valid HTTP',
    when: 'The request cannot be parsed, has two Host headers, or an absolute URL as its target.',
    remedy: 'Send a plain HTTP/1.1 request with one Host header and a path.',
  },
  'request-timeout': {
    status: 408,
    owner: 'caller',
    title: 'The request arrived too slowly',
    when: 'The headers or the body of the request did not arrive in time.',
    remedy: 'Retry. If it persists, look for a client or a network that stalls.',
  },
  'request-too-large': {
    status: 413,
    owner: 'caller',
    title: 'The request is too large',
    when: 'The body (413), the URL (414) or the header (431) is too large.',
    remedy: 'Send a shorter request. This API takes no bodies and needs no cookies.',
  },
  'client-not-allowed': {
    status: 403,
    owner: 'caller',
    title: 'This client is not allowed',
    when: "The client's address is not in ALLOWED_CLIENTS, or a page of another site made the call.",
    remedy: 'Call from an allowed network, or ask the operator to extend ALLOWED_CLIENTS or CORS_ORIGINS.',
  },
  'not-found': {
    status: 404,
    owner: 'caller',
    title: 'No such route',
    when: 'No route has this path.',
    remedy: 'Correct the path. /docs lists the routes.',
  },
  'account-not-found': {
    status: 404,
    owner: 'caller',
    title: 'No such account',
    when: 'The current snapshot has no account with this id.',
    remedy: 'List the accounts and use an `id` from the list. A new account appears after the next refresh.',
  },
  'method-not-allowed': {
    status: 405,
    owner: 'caller',
    title: 'This method is not allowed',
    when: 'The method is not GET or HEAD. This API is read-only.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  'not-acceptable': {
    status: 406,
    owner: 'caller',
    title: 'No acceptable format',
    when: 'The `Accept` header excludes every format of this route.',
    remedy: 'Accept application/json, or text/csv or application/x-ndjson where the route offers them.',
  },
  'host-not-allowed': {
    status: 421,
    owner: 'caller',
    title: 'This host name is not allowed',
    when: 'The `Host` header is not in ALLOWED_HOSTS.',
    remedy: 'Call an allowed name, or ask the operator to add this one to ALLOWED_HOSTS.',
  },
  'credentials-rejected': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected the user name or password',
    when: 'The token endpoint returned 400 or 401. Some banks also return these for an address that is not on their allowlist.',
    remedy:
      'Check BANK_USERNAME and BANK_PASSWORD. If they are right, ask the bank whether the M2M user is active and our address is on its allowlist.',
  },
  'certificate-rejected': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected our client certificate',
    when: 'The bank ended the TLS connection because of our certificate, sent a page that says so, or closed two connections in a row after the handshake.',
    remedy:
      'Ask the bank whether it expects the certificate with the thumbprint that /health shows, and whether our address is on its allowlist. Check that the file has the intermediate certificates.',
  },
  'certificate-unusable': {
    status: 503,
    owner: 'operator',
    title: 'Our client certificate cannot be used',
    when: 'The certificate has expired, is not valid yet, or cannot be read.',
    remedy: 'Install a valid certificate and its passcode. The gateway loads them within 5 seconds.',
  },
  'address-not-allowed': {
    status: 502,
    owner: 'operator',
    title: 'The bank does not allow our address',
    when: "The token endpoint returned 403. Our public address is probably not on the bank's allowlist.",
    remedy:
      'Ask the bank to add our public address, or that of the egress proxy, to the allowlist. If it is on the list, set BANK_TLS_MAX_VERSION=1.2.',
  },
  'access-not-granted': {
    status: 502,
    owner: 'bank',
    title: 'The bank has granted no accounts',
    when: 'The account list returned 404. The M2M user has no accounts, or the path in BANK_BASE_URL is wrong.',
    remedy: 'Ask the bank to grant the M2M user access to the accounts.',
  },
  'bank-untrusted': {
    status: 502,
    owner: 'operator',
    title: "The bank's server is not trusted",
    when: "The server's certificate has expired, is for another name, or is from no trusted CA. Or there is no common TLS version or cipher.",
    remedy:
      'Check BANK_BASE_URL, BANK_AUTH_URL and the clock of this machine. If the bank uses a private CA, set BANK_CA_FILE. Look for a proxy that intercepts TLS. If the certificate has expired, or there is no common TLS version, ask the bank.',
  },
  'bank-refused': {
    status: 502,
    owner: 'operator',
    title: 'The bank rejected the request',
    when: 'The bank returned an unexpected 4xx status or a redirect.',
    remedy:
      'Check BANK_BASE_URL and BANK_AUTH_URL, and whether our address is on the allowlist. Then ask the bank, with the time and the status in `detail`.',
  },
  'bank-response-invalid': {
    status: 502,
    owner: 'bank',
    title: "The bank's response cannot be used",
    when: 'The response is not JSON, is cut off, is too large, or lacks a required value. `detail` names the place.',
    remedy:
      'The gateway retries. If it persists, check that BANK_BASE_URL is the address of the account service, and report the time and the place in `detail` to the bank.',
  },
  'bank-unreachable': {
    status: 503,
    owner: 'network',
    title: 'The bank cannot be reached',
    when: 'DNS does not know the name, there is no route, or the TCP connection was refused, reset or too slow. `detail` names the step: DNS, TCP or TLS.',
    remedy:
      'The gateway retries. If it persists, ask the network team about DNS, firewall and route to the host and port of BANK_BASE_URL and BANK_AUTH_URL. `node dist/main.js doctor` prints the text for the ticket.',
  },
  'bank-error': {
    status: 503,
    owner: 'bank',
    title: 'The bank returned a server error',
    when: 'The bank returned a 5xx status.',
    remedy:
      'The gateway retries. If it lasts more than a few minutes, ask the bank about the state of its service, with the time and the status.',
  },
  'bank-rate-limited': {
    status: 503,
    owner: 'bank',
    title: 'The bank limits our request rate',
    when: 'The bank returned 429.',
    remedy:
      'The gateway waits as long as the bank asks. If it happens often, raise SNAPSHOT_FRESH_MS, and look for other programs that use the same M2M user.',
  },
  'bank-timeout': {
    status: 504,
    owner: 'bank',
    title: 'The bank did not answer in time',
    when: 'The gateway connected, but got no TLS handshake or no complete response within the deadlines.',
    remedy:
      'The gateway retries. If it lasts more than a few minutes, ask the bank about the state of its service, with the time and the text in `detail`.',
  },
  'proxy-refused': {
    status: 502,
    owner: 'network',
    title: 'The egress proxy rejected the tunnel',
    when: 'The egress proxy opened no tunnel. `detail` has its status. A 407 is for the operator.',
    remedy:
      'For a 407, correct user and password in EGRESS_PROXY_URL (percent-encoded). For any other status, ask the network team to allow CONNECT to the host and port of the bank.',
  },
  'proxy-unavailable': {
    status: 503,
    owner: 'network',
    title: 'The egress proxy cannot be reached',
    when: 'The connection to the egress proxy failed.',
    remedy:
      'Check EGRESS_PROXY_URL, and EGRESS_PROXY_CA_FILE for an https:// proxy. Then ask the network team about the state of the proxy.',
  },
  overloaded: {
    status: 503,
    owner: 'operator',
    title: 'Too many requests are waiting',
    when: 'More requests wait than MAX_REQUESTS_WAITING allows, or too many downloads run at once.',
    remedy:
      'Find out why the bank is slow, or which client calls too often: `accounts_gateway_client_requests_total` in /metrics.',
  },
  stopping: {
    status: 503,
    owner: 'operator',
    title: 'This instance is stopping',
    when: 'This instance is shutting down.',
    remedy: 'Retry: another instance answers, or this one does after its restart.',
  },
  'internal-error': {
    status: 500,
    owner: 'operator',
    title: 'Internal error',
    when: 'The gateway ran into an unexpected error.',
    remedy: 'Find the log lines with the `requestId`, and send them to the maintainers.',
  },
  'certificate-expiring': {
    status: null,
    owner: 'operator',
    title: 'A certificate expires soon',
    when: 'The client certificate, or the certificate of this API, expires in less than 30 days.',
    remedy:
      'Order a new client certificate from the bank, or a new listener certificate from your CA, and install it. The gateway loads it within 5 seconds.',
  },
  'bank-slow': {
    status: null,
    owner: 'bank',
    title: 'The bank is slow',
    when: 'A refresh takes longer than SNAPSHOT_SOFT_TIMEOUT_MS. Apps get the cached snapshot, marked stale.',
    remedy: 'If it lasts more than a few minutes, ask the bank why its service is slow.',
  },
  'accounts-emptied': {
    status: null,
    owner: 'bank',
    title: 'The bank lists no accounts',
    when: 'The last refresh returned no accounts.',
    remedy: 'Ask the bank whether the M2M user still has access to the accounts.',
  },
  'clock-skewed': {
    status: null,
    owner: 'operator',
    title: 'The clock of this machine is wrong',
    when: 'The clocks of the bank (`Date` header) and of this machine differ by more than 30 seconds.',
    remedy: 'Check the time synchronization (NTP) of this machine.',
  },
  'snapshot-not-stored': {
    status: null,
    owner: 'operator',
    title: 'The snapshot cannot be written to its file',
    when: 'SNAPSHOT_FILE cannot be written. Apps get current data, but after a restart the first calls wait for the bank.',
    remedy:
      "Check that the directory of SNAPSHOT_FILE exists, that the gateway's user may write to it, and that the disk has space.",
  },
  'sharing-unavailable': {
    status: null,
    owner: 'operator',
    title: 'Redis cannot be used',
    when: 'Redis is unreachable, slow, full, read-only, or denies access. This instance refreshes on its own.',
    remedy:
      'Check that the Redis of REDIS_URL runs, can be reached, has free memory, and allows this user to write. The gateway uses it again without a restart.',
  },
} as const satisfies Record<string, Problem>;

/** Every code, those that only /health reports included. */
export type AnyCode = keyof typeof PROBLEMS;

/** The codes of responses. */
export type ProblemCode = {
  [Code in AnyCode]: (typeof PROBLEMS)[Code]['status'] extends number ? Code : never;
}[AnyCode];

export const ALL_CODES = Object.keys(PROBLEMS) as AnyCode[];

export const PROBLEM_CODES = ALL_CODES.filter((code): code is ProblemCode => PROBLEMS[code].status !== null);
