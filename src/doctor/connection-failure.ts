import { isTrustFailure } from '../egress/open-tunnel.js';
import type { RouteSettings } from '../egress/route.js';
import type { GatewayError } from '../problems/gateway-error.js';
import type { Connection } from './probe-connection.js';
import { remedyFor, StepFailed } from './step-failed.js';

/** The reason why the host cannot be reached by TCP or tunnel; null if it can. */
export function toRouteFailure(connection: Connection, settings: RouteSettings): StepFailed | null {
  const { failure, reached, host, proxyStatus } = connection;
  // a tunnel that stood for a moment and led nowhere is still the proxy's
  if (!failure || (reached && !failure.code.startsWith('proxy-'))) return null;
  const cause = causeOf(failure);
  const { EGRESS_LOCAL_ADDRESS: localAddress } = settings;
  if (localAddress !== undefined && (cause === 'EADDRNOTAVAIL' || cause === 'EINVAL')) {
    return new StepFailed(
      'config-invalid',
      'operator',
      `EGRESS_LOCAL_ADDRESS is ${localAddress}, from which ${host.hostname} cannot be reached (${cause}): it is not an address of this machine, or belongs to another address family.`,
      'Set EGRESS_LOCAL_ADDRESS to an address of this machine (ip address show), or leave it out.',
    );
  }
  if (failure.code === 'proxy-refused' && (proxyStatus === 407 || proxyStatus === 401)) {
    const given = host.proxy?.username || host.proxy?.password;
    return new StepFailed(
      'proxy-refused',
      'operator',
      `The egress proxy ${given ? 'does not accept the user and password in EGRESS_PROXY_URL' : 'asks for a user and password, and EGRESS_PROXY_URL has none'} (it answered ${proxyStatus}).`,
      'Set user and password in EGRESS_PROXY_URL=http://user:password@host:port, with everything percent-encoded except letters, digits and -._~ (@ as %40, : as %3A, / as %2F, # as %23, % as %25). If they are right, ask the network team about this account.',
    );
  }
  return new StepFailed(failure.code, failure.owner, failure.detail, toRouteRemedy(connection, failure));
}

function toRouteRemedy(connection: Connection, failure: GatewayError): string {
  const { host, localAddress: from = 'this machine', proxyStatus = 0 } = connection;
  const { address, proxy, variable, hostname, port } = host;
  switch (failure.code) {
    case 'proxy-refused':
      return proxyStatus >= 500
        ? `Ask the network team why the proxy cannot reach ${address} (its DNS, its firewall, or the bank itself).`
        : `Check that EGRESS_PROXY_URL names a CONNECT proxy. Ask the network team to allow CONNECT to ${address} on the proxy for this machine.`;
    case 'proxy-unavailable':
      return isTrustFailure(causeOf(failure))
        ? 'Set EGRESS_PROXY_CA_FILE to the root certificate of the proxy (ask the network team for it), and check that EGRESS_PROXY_URL names the proxy as its certificate does.'
        : `Check EGRESS_PROXY_URL (or HTTPS_PROXY); if it is right, ask the network team whether ${from} may connect to ${hostname}:${port}, and whether the proxy reaches ${address}.`;
    case 'bank-timeout':
    case 'bank-unreachable':
      return `Check host and port in ${variable}. Ask the network team whether the firewall lets ${from} connect to ${address} over TCP${proxy ? '' : ', or whether a proxy must be used (EGRESS_PROXY_URL)'}; then ask the bank whether its service is up.`;
    default:
      return remedyFor('route', failure);
  }
}

/** The reason why the TLS handshake failed; null if it succeeded. */
export function toTlsFailure(connection: Connection, thumbprint: string): StepFailed | null {
  const { failure } = connection;
  if (!failure) return null;
  return new StepFailed(failure.code, failure.owner, failure.detail, toTlsRemedy(connection, failure, thumbprint));
}

function toTlsRemedy(connection: Connection, failure: GatewayError, thumbprint: string): string {
  const { host, serverChain, localAddress: from = 'this machine' } = connection;
  const { address, variable } = host;
  const cause = causeOf(failure);
  if (failure.code === 'bank-untrusted') return toTrustRemedy(connection, cause);
  if (failure.code === 'certificate-rejected') {
    const early = ` The connection ended during the handshake, so our certificate may not be the cause: also ask the network team whether a firewall cuts off the connection to ${address}.`;
    return `${rejectionRemedy(thumbprint)}${serverChain.length > 0 || /alert/.test(failure.detail) ? '' : early}`;
  }
  if (failure.code === 'bank-timeout') {
    return `Ask the network team whether something between ${from} and ${address} blocks TLS (inspection, MTU): the connection is open, but the server sends nothing. Then ask the bank whether its service is up.`;
  }
  if (/PROTOCOL|UNSUPPORTED|alert 70/.test(`${cause} ${failure.detail}`)) {
    return `Ask the bank to enable TLS 1.2 or 1.3 on ${address}: its server offers only outdated versions.`;
  }
  if (/WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST|RECORD/.test(cause)) {
    return `Check the port in ${variable}: what answers at ${address} does not speak TLS. If it is right, ask the network team what answers there instead of the bank.`;
  }
  return `Ask the bank whether its service on ${address} is up; ask the network team whether something on the way changes or cuts off TLS.`;
}

/** Remedy when the bank rejects our certificate. */
export const rejectionRemedy = (thumbprint: string): string =>
  `Ask the bank whether the certificate with thumbprint ${thumbprint} is registered for our M2M user in this environment and not revoked, and whether our public address is on the allowlist; check that the PFX contains the intermediates.`;

function toTrustRemedy({ host: { address, variable }, serverChain }: Connection, cause: string): string {
  switch (cause) {
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `Check the clock of this machine; if it is right, tell the bank that the certificate of ${address} is not valid today, and ask when it will be renewed.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `Check the name in ${variable}: the server at ${address} presents a certificate for other names (above). If the name is right, ask the network team where it leads.`;
    default:
      return `If the bank uses a private root, ask it for the certificate of ${serverChain[0]?.issuer ?? 'its issuer'} and set BANK_CA_FILE to it. The gateway then trusts only the roots in that file. If that is not the bank's issuer, ask the network team to exempt ${address} from TLS inspection.`;
  }
}

/** The runtime's own code of what happened, which egress keeps as the cause. */
const causeOf = ({ cause }: GatewayError): string => (cause instanceof Error ? cause.message : 'unknown');
