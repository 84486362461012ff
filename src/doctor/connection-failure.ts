import type { ConnectionFacts } from '../egress/probe-connection.js';
import { isTrustFailure } from '../egress/wire-failure.js';
import type { GatewayError } from '../problems/gateway-error.js';
import type { BankHost } from './hosts.js';
import { remedyFor } from './remedies.js';
import { capital, StepFailed } from './step-failed.js';

/** One connection to one host, and what came of it. */
export interface Attempt {
  readonly host: BankHost;
  readonly seen: ConnectionFacts;
  /** The local address we leave by, where it is known. */
  readonly source: string | null;
  /** EGRESS_LOCAL_ADDRESS. */
  readonly localAddress: string | null;
  readonly failure: GatewayError | null;
}

/** Why there is no way to the host, TCP or tunnel; null when there is. */
export function toRouteFailure(attempt: Attempt): StepFailed | null {
  const { failure, seen, host, localAddress } = attempt;
  // a tunnel that stood for a moment and led nowhere is still the proxy's
  if (!failure || (seen.reached && !failure.code.startsWith('proxy-'))) return null;
  const cause = causeOf(failure);
  if (localAddress !== null && (cause === 'EADDRNOTAVAIL' || cause === 'EINVAL')) {
    return new StepFailed(
      'config-invalid',
      'operator',
      `EGRESS_LOCAL_ADDRESS is ${localAddress}, from which ${host.hostname} cannot be reached (${cause}): it is no address of this machine, or of another family.`,
      'Set EGRESS_LOCAL_ADDRESS to an address of this machine (ip address show), or leave it out.',
    );
  }
  const { proxy, address } = host;
  if (proxy && failure.code === 'proxy-refused' && (seen.proxyStatus === 407 || seen.proxyStatus === 401)) {
    return toAuthenticationFailure(proxy, address, seen.proxyStatus);
  }
  return toFailed(attempt, failure, routeRemedy(attempt, failure.code, cause));
}

const PERCENT_ENCODING =
  'percent-encoded but for letters, digits and -._~ (@ as %40, : as %3A, / as %2F, # as %23, % as %25)';

/** A matter of EGRESS_PROXY_URL, and so of the operator, whether it has credentials or none. */
function toAuthenticationFailure(proxy: URL, address: string, status: number): StepFailed {
  const [problem, remedy] =
    proxy.username === '' && proxy.password === ''
      ? [
          `asks for a user and password, and EGRESS_PROXY_URL has none (it answered ${status})`,
          `Set user and password of the proxy in EGRESS_PROXY_URL=http://user:password@host:port, ${PERCENT_ENCODING}; the network team gives out accounts.`,
        ]
      : [
          `does not accept the user and password in EGRESS_PROXY_URL (it answered ${status})`,
          `Check user and password in EGRESS_PROXY_URL (or HTTPS_PROXY): they must be ${PERCENT_ENCODING}. If they are right, ask the network team about this account.`,
        ];
  return new StepFailed('proxy-refused', 'operator', `${address}: The egress proxy ${problem}.`, remedy);
}

/** Our side of the handshake. */
interface OwnTrust {
  /** SHA-1 of our certificate. */
  readonly thumbprint: string;
  /** Subjects of the roots in BANK_CA_FILE, or null when it is not set. */
  readonly roots: readonly string[] | null;
}

/** Why the two sides did not come to trust each other; null when they did. */
export function toTlsFailure(attempt: Attempt, own: OwnTrust): StepFailed | null {
  const { failure } = attempt;
  if (!failure) return null;
  const failed = toFailed(attempt, failure, tlsRemedy(attempt, failure, own.thumbprint));
  if (failure.code !== 'bank-untrusted' || OTHER_DISTRUST.has(causeOf(failure))) return failed;
  const { code, owner, problem, remedy } = failed;
  return new StepFailed(code, owner, `${problem} ${describeRoots(own.roots)}`, remedy);
}

function describeRoots(roots: OwnTrust['roots']): string {
  if (roots === null) return 'BANK_CA_FILE is not set, so only the roots of Node count.';
  const more = roots.length > 5 ? ` and ${roots.length - 5} more` : '';
  return `BANK_CA_FILE holds no root of it, only: ${roots.slice(0, 5).join('; ')}${more}.`;
}

/** Codes of a server certificate whose root is not what is wrong. */
const OTHER_DISTRUST = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID']);

function toFailed({ host }: Attempt, { code, owner, detail }: GatewayError, remedy: string): StepFailed {
  return new StepFailed(code, owner, `${host.address}: ${capital(detail)}`, remedy);
}

/** The runtime's own code of what happened, which egress keeps as the cause. */
const causeOf = ({ cause }: GatewayError): string => (cause instanceof Error ? cause.message : 'unknown');

function routeRemedy({ host, source, seen }: Attempt, code: GatewayError['code'], cause: string): string {
  const { address, proxy, variable, hostname, port } = host;
  const from = source ?? 'this machine';
  if (code === 'proxy-refused') return refusalRemedy(address, seen.proxyStatus);
  if (code === 'proxy-unavailable') {
    if (isTrustFailure(cause)) {
      return 'Give the root of the certificate of the proxy as EGRESS_PROXY_CA_FILE (ask the network team for it), and check that EGRESS_PROXY_URL names the proxy as its certificate does.';
    }
    return `Check EGRESS_PROXY_URL (or HTTPS_PROXY); if it is right, ask the network team whether ${from} may connect to ${hostname}:${port}, and whether the proxy reaches ${address}.`;
  }
  if (code === 'bank-timeout' || code === 'bank-unreachable') {
    const ask = `ask the network team whether the firewall lets ${from} connect to ${address} by TCP`;
    return cause === 'ECONNREFUSED'
      ? `Check host and port in ${variable}; then ${ask}, and the bank whether its service is up.`
      : `${capital(ask)}${proxy ? '' : ', or whether a proxy must be used (EGRESS_PROXY_URL)'}; then ask the bank whether its service is up.`;
  }
  return remedyFor('route', code);
}

function refusalRemedy(address: string, status: number | undefined): string {
  switch (status) {
    case 403:
    case 404:
    case 405:
      return `Ask the network team to allow CONNECT to ${address} on the proxy for this machine.`;
    case 502:
    case 503:
    case 504:
      return `Ask the network team why the proxy cannot reach ${address} (its DNS, its firewall, or the bank itself).`;
    default:
      return `Check that EGRESS_PROXY_URL names a CONNECT proxy; then ask the network team what it does with CONNECT to ${address}.`;
  }
}

function tlsRemedy({ host, seen, source }: Attempt, failure: GatewayError, thumbprint: string): string {
  const { address, variable } = host;
  const { code } = failure;
  const cause = causeOf(failure);
  const [leaf] = seen.serverChain ?? [];
  if (code === 'certificate-rejected') {
    if (!leaf) {
      return `The connection ended before the server showed its certificate, so ours may not be the reason. Ask the bank whether its service is up and our public address is on the allowlist, and the network team whether a firewall cuts the connection to ${address} off.`;
    }
    return rejectionRemedy(thumbprint);
  }
  if (code === 'bank-untrusted') return trustRemedy(host, cause, leaf?.issuer ?? 'its issuer');
  if (code === 'bank-timeout') {
    return `Ask the network team whether something between ${source ?? 'this machine'} and ${address} swallows TLS (inspection, MTU): the connection stands, but the server says nothing. Then ask the bank whether its service is up.`;
  }
  if (/PROTOCOL|UNSUPPORTED|alert 70/.test(`${cause} ${failure.detail}`)) {
    return `Ask the bank to enable TLS 1.2 or 1.3 on ${address}: its server offers only what is outdated.`;
  }
  if (/WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST|RECORD/.test(cause)) {
    return `Check the port in ${variable}: what answers at ${address} does not speak TLS. If it is right, ask the network team what stands there in place of the bank.`;
  }
  return `Ask the bank whether its service on ${address} is up; ask the network team whether something on the way changes or cuts off TLS.`;
}

/** Remedy when the bank rejects our certificate. */
export const rejectionRemedy = (thumbprint: string): string =>
  `Ask the bank whether the certificate with thumbprint ${thumbprint} is registered for our M2M user in this environment and not revoked, and whether our public address is on the allowlist; check that the PFX contains the intermediates.`;

function trustRemedy({ address, variable }: BankHost, cause: string, issuer: string): string {
  switch (cause) {
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `Check the clock of this machine; if it is right, tell the bank that the certificate of ${address} is not valid today, and ask when it will be renewed.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `Check the name in ${variable}: the server at ${address} shows a certificate for other names (above). If the name is right, ask the network team where it leads.`;
    default:
      return `If the bank uses a private root, ask it for the certificate of ${issuer} and give it as BANK_CA_FILE, whose roots alone are trusted then. If that is not the bank's issuer, ask the network team to exempt ${address} from TLS inspection.`;
  }
}
