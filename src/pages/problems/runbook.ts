import type { AnyCode } from '../../errors/problem-table.js';

/** What to do about a code, step by step. Text between backticks is a command or a name. */
export interface Runbook {
  /** Three to six, in order. */
  readonly steps: readonly string[];
  /** How to see that it is over. */
  readonly over: string;
}

const DOCTOR = 'Run `node dist/main.js doctor`. It stops at the step that fails, and names the reason.';
const HEALTH = 'Look at the failing component: `curl http://localhost:3000/health`.';
const LAST_HOUR = 'See when it began: `curl http://localhost:3000/health/recent`, under `events`.';
const REPORT =
  'Send the bank the report that the status page copies. It has the times, the host, the answer and our certificate.';
const RETRY = 'Do not restart the gateway: it retries, and a restart drops the cached copy.';
const SEE = 'Repeat the call and look at the answer: `curl -i http://localhost:3000/api/v1/accounts`.';
const DOCUMENTED = 'Compare it with the parameters and limits in /docs.';

const CALLS_WORK = '`curl -i http://localhost:3000/api/v1/accounts` answers 200 with `Snapshot-Stale: false`.';
const REQUEST_WORKS = 'The same call answers 200.';
const HEALTHY = '`curl http://localhost:3000/health` shows the component as `up`.';

/** The runbook of each code, for its page. */
export const RUNBOOKS: Readonly<Record<AnyCode, Runbook>> = {
  'invalid-request': {
    steps: [
      'Read `errors` in the answer. It names each parameter and the reason.',
      DOCUMENTED,
      'Correct the call in the app, and repeat it.',
    ],
    over: REQUEST_WORKS,
  },
  'malformed-request': {
    steps: [
      'Send the call with curl, which sends valid HTTP: `curl -i http://localhost:3000/api/v1/accounts`.',
      'If that works, look for a proxy between app and gateway that doubles `Host` or sends an absolute URL.',
      'Correct the client or the proxy.',
    ],
    over: REQUEST_WORKS,
  },
  'request-timeout': {
    steps: [
      'Send the same call from the machine of the gateway: `curl -i http://localhost:3000/api/v1/accounts`.',
      'If that works, measure from the machine of the app: `curl -w "%{time_total}\\n" -o /dev/null -s <address>`.',
      'Look for a client that opens connections and sends nothing, or a network that stalls.',
    ],
    over: REQUEST_WORKS,
  },
  'request-too-large': {
    steps: [
      'Look at the status: 413 is the body, 414 the URL, 431 the header.',
      'Remove cookies and bodies: this API needs neither.',
      'Shorten the query, and repeat the call.',
    ],
    over: REQUEST_WORKS,
  },
  'client-not-allowed': {
    steps: [
      'Find the log line with the request id. `client` is the address, `origin` the page.',
      'If the app may call, add its network to `ALLOWED_CLIENTS`, or its origin to `CORS_ORIGINS`.',
      'Restart the gateway, and repeat the call.',
    ],
    over: REQUEST_WORKS,
  },
  'not-found': {
    steps: [
      'Compare the path with those in /docs.',
      'Look for a proxy that adds or removes a prefix.',
      'Correct the address, and repeat the call.',
    ],
    over: REQUEST_WORKS,
  },
  'account-not-found': {
    steps: [
      'Search for the account: `curl "http://localhost:3000/api/v1/accounts?q=<name or IBAN>"`.',
      'If it is there, use its `id`. An IBAN is not an id.',
      'If it is not, wait for the next refresh, or ask for one: `curl -H "Cache-Control: no-cache" http://localhost:3000/api/v1/accounts`.',
      'If it is still missing, ask the bank whether the M2M user may see it.',
    ],
    over: REQUEST_WORKS,
  },
  'method-not-allowed': {
    steps: [
      'Read the `Allow` header of the answer.',
      'Use GET: this API only reads.',
      'Correct the call in the app, and repeat it.',
    ],
    over: REQUEST_WORKS,
  },
  'not-acceptable': {
    steps: [
      'Look at the `Accept` header of the call.',
      'Send `Accept: application/json`, or remove the header.',
      'Repeat the call.',
    ],
    over: REQUEST_WORKS,
  },
  'host-not-allowed': {
    steps: [
      'Look at the name in the address that the app calls.',
      'If it is right, add it to `ALLOWED_HOSTS`. Behind a proxy, see whether the proxy passes `Host` on.',
      'Restart the gateway, and repeat the call.',
    ],
    over: REQUEST_WORKS,
  },
  'credentials-rejected': {
    steps: [
      DOCTOR,
      'Compare `BANK_USERNAME` and `BANK_PASSWORD`, or the files of `BANK_USERNAME_FILE` and `BANK_PASSWORD_FILE`, with what the bank gave you.',
      'Put the right ones in place. The gateway loads files within 5 seconds. After a change of a variable, restart it.',
      'If they are right, ask the bank two things: is the M2M user active, and is our address (`EGRESS_PUBLIC_ADDRESS`) on its allowlist?',
      'End the back-off, which may last 300 seconds: `kill -HUP <process id>`.',
    ],
    over: CALLS_WORK,
  },
  'certificate-rejected': {
    steps: [
      DOCTOR,
      'Note the thumbprint in its output, and the date on which the certificate expires.',
      'Ask the bank whether it expects that certificate, has revoked it, and has our address on its allowlist.',
      'If it expects another one, install that one as `BANK_PFX_FILE`, or as `BANK_CERT_FILE` and `BANK_KEY_FILE`, with the intermediate certificates.',
      'Wait 5 seconds, or run `kill -HUP <process id>`.',
    ],
    over: CALLS_WORK,
  },
  'certificate-unusable': {
    steps: [
      'See what is wrong with the file: `node dist/main.js doctor --offline`.',
      'If it has expired, order a new certificate from the bank.',
      'Put the new file and its passcode in place. The gateway loads them within 5 seconds, without a restart.',
      HEALTH,
    ],
    over: CALLS_WORK,
  },
  'address-not-allowed': {
    steps: [
      'Find the address that the bank sees. Ask the network team, or look at `EGRESS_PUBLIC_ADDRESS`.',
      'Ask the bank to put it on the allowlist. The status page copies the text.',
      'If the address changed, ask the network team to restore the old route meanwhile.',
      'When the bank has confirmed, end the back-off: `kill -HUP <process id>`.',
    ],
    over: CALLS_WORK,
  },
  'access-not-granted': {
    steps: [
      DOCTOR,
      'If the gateway never worked with these settings, correct the path in `BANK_BASE_URL`.',
      'Otherwise ask the bank to grant the M2M user its accounts again. The status page copies the text.',
      'When the bank has confirmed, end the back-off: `kill -HUP <process id>`.',
    ],
    over: CALLS_WORK,
  },
  'bank-untrusted': {
    steps: [
      DOCTOR,
      "Compare the issuer in its output with the CA certificates in `BANK_CA_FILE`. Without it, the gateway trusts Node's own.",
      'If the issuer is your own company, a proxy intercepts TLS. Ask the network team to exempt the host of the bank.',
      'If the certificate of the bank has expired, report it to the bank.',
      'Look at the clock of this machine: `date -u`.',
    ],
    over: CALLS_WORK,
  },
  'bank-refused': {
    steps: [
      DOCTOR,
      'Compare `BANK_BASE_URL` and `BANK_AUTH_URL` with what the bank gave you.',
      'Ask the bank why it answers with the status in `detail`, and whether our address is on its allowlist.',
      RETRY,
    ],
    over: CALLS_WORK,
  },
  'bank-response-invalid': {
    steps: [
      HEALTH,
      'Note the place that `detail` names, and the time.',
      'Check that `BANK_BASE_URL` is the address of the account service: `node dist/main.js doctor`.',
      REPORT,
    ],
    over: CALLS_WORK,
  },
  'bank-unreachable': {
    steps: [
      DOCTOR,
      'Look up the name: `getent hosts <host of BANK_BASE_URL>`.',
      'Connect from the machine of the gateway: `curl -v https://<host of BANK_BASE_URL>`.',
      'Send the network team the report that the status page copies: DNS, firewall or route.',
      RETRY,
    ],
    over: CALLS_WORK,
  },
  'bank-error': {
    steps: [HEALTH, LAST_HOUR, REPORT, RETRY],
    over: CALLS_WORK,
  },
  'bank-rate-limited': {
    steps: [
      'See how often the gateway calls: `curl -s http://localhost:3000/metrics | grep http_client_request_duration_seconds_count`.',
      'Look for other programs that use the same M2M user.',
      'Raise `SNAPSHOT_FRESH_MS`, or lower `BANK_MAX_CONCURRENT_REQUESTS`, and restart the gateway.',
      'Ask the bank for its limit, and whether it can raise it.',
    ],
    over: CALLS_WORK,
  },
  'bank-timeout': {
    steps: [
      DOCTOR,
      'If `tls` or `token` is the slow step, ask the network team whether a firewall drops packets.',
      REPORT,
      'If the bank stays slow, raise `BANK_REQUEST_TIMEOUT_MS` and `SNAPSHOT_READ_TIMEOUT_MS`.',
    ],
    over: CALLS_WORK,
  },
  'proxy-refused': {
    steps: [
      DOCTOR,
      'For a 407, correct user and password in `EGRESS_PROXY_URL`, and restart the gateway.',
      'For any other status, ask the network team to allow CONNECT to the host and port of the bank.',
      'Try the proxy without the gateway: `curl -v -x <proxy> https://<host of BANK_BASE_URL>`.',
    ],
    over: CALLS_WORK,
  },
  'proxy-unavailable': {
    steps: [
      DOCTOR,
      'Try the proxy without the gateway: `curl -v -x <proxy> https://<host of BANK_BASE_URL>`.',
      'Compare `EGRESS_PROXY_URL` with what the network team gave you; for an https:// proxy also `EGRESS_PROXY_CA_FILE`.',
      'Ask the network team about the state of the proxy.',
    ],
    over: CALLS_WORK,
  },
  overloaded: {
    steps: [
      'See which app calls most: `curl -s http://localhost:3000/metrics | grep client_requests_total`, or *Your apps* on the status page.',
      'See whether the bank is slow: callers wait for it. Look at the status page.',
      'Ask the team of that app to poll with `If-None-Match`, at most every `max-age` seconds.',
      'If the load is right, raise `MAX_REQUESTS_WAITING`, or add an instance.',
    ],
    over: REQUEST_WORKS,
  },
  stopping: {
    steps: [
      'Repeat the call: a load balancer sends it to another instance.',
      'See whether the instance starts again: `curl -i http://localhost:3000/health/live`.',
      'If it does not, read its last log lines, and start it.',
    ],
    over: '`curl -i http://localhost:3000/health/ready` answers 200.',
  },
  'internal-error': {
    steps: [
      'Find the log lines with the request id of the answer.',
      SEE,
      'Send the lines, the version (`curl http://localhost:3000/health`) and the call to the maintainers.',
    ],
    over: REQUEST_WORKS,
  },
  'certificate-expiring': {
    steps: [
      'See which certificate it is, and its date: `curl http://localhost:3000/health`, under `certificate` or `listener`.',
      'Order a new client certificate from the bank, or a new listener certificate from your CA. Ask how long that takes.',
      'Test the new file before you install it: `BANK_PFX_FILE=<new file> node dist/main.js doctor`.',
      'Replace the old file with it. The gateway loads it within 5 seconds, tests it at the bank, and keeps the old one if that fails.',
      'Read the log: `certificate.replaced` has the new date, `certificate.refused` the reason.',
    ],
    over: '`daysLeft` in `curl http://localhost:3000/health` matches the new certificate.',
  },
  'bank-slow': {
    steps: [
      HEALTH,
      'See for how long: `curl http://localhost:3000/health/recent`, under `bankP50Ms`.',
      REPORT,
      'If it is slow every day, raise `SNAPSHOT_SOFT_TIMEOUT_MS`.',
    ],
    over: CALLS_WORK,
  },
  'accounts-emptied': {
    steps: [
      'Check that the list is empty: `curl -H "Cache-Control: no-cache" http://localhost:3000/api/v1/accounts`.',
      'Ask the bank which accounts the M2M user may see. The status page copies the text.',
      'Tell the teams of the apps that the empty list does not prove that accounts were closed.',
      'If an empty list is right, silence the alert: `/health` stays degraded until the bank lists accounts.',
    ],
    over: '`page.total` in `curl http://localhost:3000/api/v1/accounts` is more than 0.',
  },
  'clock-skewed': {
    steps: [
      'Compare the clock of this machine with another: `date -u`.',
      'Look at its time service: `timedatectl`, or that of the host for a container.',
      'Correct the clock. If it is right, report the `Date` header to the bank.',
    ],
    over: HEALTHY,
  },
  'snapshot-not-stored': {
    steps: [
      'Look at the directory of `SNAPSHOT_FILE`: `ls -ld <directory>` and `df -h <directory>`.',
      'Give the user of the gateway the right to write there, or free some space.',
      'Wait for the next refresh. Until then a restart begins without a copy.',
    ],
    over: HEALTHY,
  },
  'sharing-unavailable': {
    steps: [
      'See the reason: `curl http://localhost:3000/health`, under `sharing`.',
      'Try Redis from the machine of the gateway: `redis-cli -u <REDIS_URL> ping`.',
      'If it is full, look at its memory: `redis-cli -u <REDIS_URL> info memory`. If it denies access, look at the ACL of the user.',
      'Repair Redis. The gateway uses it again without a restart.',
    ],
    over: 'The log has `sharing.recovered`, and /health shows `sharing` as `up`.',
  },
};
