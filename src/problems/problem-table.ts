export const OWNERS = ['caller', 'operator', 'network', 'bank'] as const;
export type Owner = (typeof OWNERS)[number];

interface ProblemEntry {
  readonly status: number;
  readonly owner: Owner;
  readonly title: string;
  /** When it happens. */
  readonly meaning: string;
  /** What the owner should do about it. */
  readonly remedy: string;
}

const entry = (status: number, owner: Owner, title: string, meaning: string, remedy: string): ProblemEntry => ({
  status,
  owner,
  title,
  meaning,
  remedy,
});

/** Every error this service answers with (docs/errors.md#the-codes). The pages under /problems and the OpenAPI are made from it. */
export const PROBLEMS = {
  'invalid-request': entry(
    400,
    'caller',
    'A parameter is wrong',
    'A query parameter is unknown, given twice or has a value that is not allowed; `errors` names each.',
    'Correct the parameters named in `errors`; /docs lists what is allowed.',
  ),
  'malformed-request': entry(
    400,
    'caller',
    'The request is not proper HTTP',
    'The request could not be parsed, has two Host headers, or names an absolute URL.',
    'Send a plain HTTP/1.1 request with one Host header and a path.',
  ),
  'request-timeout': entry(
    408,
    'caller',
    'The request came too slowly',
    'The header of the request was not complete in time.',
    'Send the request in one go; look for a network or client that stalls.',
  ),
  'request-too-large': entry(
    413,
    'caller',
    'The request is too large',
    'The body (413), the address (414) or the header (431) is larger than this service accepts.',
    'Send a shorter request; this API takes no bodies and needs no cookies.',
  ),
  'client-not-allowed': entry(
    403,
    'caller',
    'This caller may not call',
    'The address that the connection comes from is not in ALLOWED_CLIENTS, or a browser made the call from another site.',
    'Call from an allowed network, or ask the operator to extend ALLOWED_CLIENTS or CORS_ORIGINS.',
  ),
  'not-found': entry(404, 'caller', 'There is no such page', 'No route has this path.', 'See /docs for what there is.'),
  'account-not-found': entry(
    404,
    'caller',
    'There is no such account',
    'The complete list last read from the bank has no account with this id.',
    'List the accounts and use an `id` from there; a new account shows after the next reading.',
  ),
  'method-not-allowed': entry(
    405,
    'caller',
    'This method is not allowed',
    'This API is for reading only.',
    'Use one of the methods named in the `Allow` header.',
  ),
  'not-acceptable': entry(
    406,
    'caller',
    'No acceptable format',
    'The `Accept` header excludes every format this route can give.',
    'Accept application/json (or text/csv, application/x-ndjson where offered).',
  ),
  'host-not-allowed': entry(
    421,
    'caller',
    'This name is not served here',
    'The `Host` header is not one of ALLOWED_HOSTS.',
    'Call the service by a name it knows, or ask the operator to add this one to ALLOWED_HOSTS.',
  ),
  'credentials-rejected': entry(
    502,
    'operator',
    'The bank rejected our user name or password',
    'The token endpoint answered 400 or 401. Some banks answer the same to an address that is not white-listed.',
    'Check BANK_USERNAME and BANK_PASSWORD with the bank, then whether our address is on its white-list.',
  ),
  'certificate-rejected': entry(
    502,
    'operator',
    'The bank rejected our client certificate',
    'The bank ended the TLS connection over our certificate, or closed fresh connections without ever having answered.',
    'Ask the bank which certificate it expects (`npm run doctor` shows our thumbprint); check that the PFX holds the intermediate, and the white-list.',
  ),
  'certificate-unusable': entry(
    503,
    'operator',
    'Our client certificate cannot be used',
    'The certificate has expired, is not valid yet, or could not be read.',
    'Put a valid PFX and its passcode in place; it is taken up within seconds.',
  ),
  'address-not-allowed': entry(
    502,
    'operator',
    'The bank does not allow our address',
    'The token endpoint answered 403: most likely the address we leave by is not on the white-list of the bank.',
    'Ask the bank to white-list the public address of this service or of its egress proxy.',
  ),
  'access-not-granted': entry(
    502,
    'bank',
    'The bank has granted no accounts',
    'The account list answered 404: the M2M user has no accounts granted, or the path in BANK_BASE_URL is wrong.',
    'Ask the bank to grant the M2M user access to the accounts; check BANK_BASE_URL.',
  ),
  'bank-untrusted': entry(
    502,
    'operator',
    'The server is not trusted as the bank',
    'The certificate of the server is expired, for another name, or not signed by a trusted root.',
    'Check BANK_BASE_URL and BANK_AUTH_URL; if the bank uses a private root, give it as BANK_CA_FILE; look for a proxy that opens TLS.',
  ),
  'bank-refused': entry(
    502,
    'operator',
    'The bank refused our request',
    'The bank answered with a status that its document does not foresee here, or with a redirect.',
    'Check BANK_BASE_URL and BANK_AUTH_URL; then ask the bank, naming the time and the status in `detail`.',
  ),
  'bank-response-invalid': entry(
    502,
    'bank',
    'The answer of the bank cannot be used',
    'The answer is no JSON, cut off, too large, or lacks what is needed; `detail` names the place.',
    'Try again; if it stays, report the time and the place in the document to the bank.',
  ),
  'bank-unavailable': entry(
    503,
    'network',
    'The bank cannot be reached',
    'The connection was refused or reset, the name was not found, or the bank answered 5xx (then `owner` is bank).',
    'The gateway tries again by itself; a caller waits for `Retry-After`. If it stays, check DNS, firewall and route with `npm run doctor`, then the state of the bank.',
  ),
  'bank-rate-limited': entry(
    503,
    'bank',
    'The bank asks us to slow down',
    'The bank answered 429.',
    'The gateway waits as long as the bank says; a caller waits for `Retry-After`. If it happens often, raise SNAPSHOT_FRESH_MS.',
  ),
  'bank-timeout': entry(
    504,
    'bank',
    'The bank did not answer in time',
    'No complete answer came within the deadlines.',
    'Try again; if it stays, check the route with `npm run doctor`, then the state of the bank.',
  ),
  'proxy-refused': entry(
    502,
    'network',
    'The egress proxy refused the tunnel',
    'The egress proxy answered CONNECT with something else than a tunnel.',
    'Check user and password in EGRESS_PROXY_URL and that the proxy allows CONNECT to the host and port of the bank.',
  ),
  'proxy-unavailable': entry(
    503,
    'network',
    'The egress proxy cannot be reached',
    'The connection to the egress proxy failed.',
    'Check EGRESS_PROXY_URL and the state of the proxy.',
  ),
  'not-cached': entry(
    504,
    'caller',
    'Nothing is held',
    'The call asked for `only-if-cached`, and no answer is held that is young enough.',
    'Call again without `only-if-cached`.',
  ),
  overloaded: entry(
    503,
    'operator',
    'Too many requests are waiting',
    'More callers wait for the bank than MAX_REQUESTS_WAITING.',
    'A caller waits for `Retry-After`. The operator finds out why the bank is slow, or who calls so often.',
  ),
  stopping: entry(
    503,
    'operator',
    'The service is stopping',
    'This instance is shutting down.',
    'Call again; another instance or the restarted one will answer.',
  ),
  'internal-error': entry(
    500,
    'operator',
    'A fault of this service',
    'Something happened that this service does not foresee.',
    'Look for the `requestId` in the log and report it.',
  ),
} as const satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text);
}
