import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { Egress } from '../egress/egress.js';
import type { ConnectionFacts } from '../egress/probe-connection.js';
import { describeRoute, type RouteSettings } from '../egress/route.js';
import { toGatewayError, type GatewayError } from '../problems/gateway-error.js';
import { parseCertificates } from '../config/pem-file.js';
import { toRouteFailure, toTlsFailure, type Attempt } from './connection-failure.js';
import { lineFor, type BankHost } from './hosts.js';
import { failTogether } from './step-failed.js';
import type { Findings } from './walk.js';

const LOCAL = 'the local address; behind a NAT or a proxy the bank sees another one';

interface ConnectionCheckOptions {
  readonly egress: Egress;
  readonly hosts: readonly BankHost[];
  readonly settings: RouteSettings;
  /** Of our certificate. */
  readonly thumbprint: string;
  /** PEM of the only roots trusted for the bank, or null for the runtime's own. */
  readonly ca: string | null;
}

/** One connection to each host, made as every call makes it; looked at twice, for the route and for TLS. */
export class ConnectionCheck {
  readonly #options: ConnectionCheckOptions;
  #attempts: Attempt[] = [];

  constructor(options: ConnectionCheckOptions) {
    this.#options = options;
  }

  /** TCP, or the tunnel through the proxy. */
  async checkRoute(findings: Findings): Promise<void> {
    this.#attempts = await Promise.all(this.#options.hosts.map((host) => this.#attempt(host)));
    // the handshake is part of the same connection, and counted in the next step
    findings.ms = Math.max(...this.#attempts.map(({ seen }) => seen.transportMs ?? 0));
    for (const { host, seen, source } of this.#attempts) {
      const { remoteAddress, remotePort, proxyStatus, transportMs } = seen;
      findings.facts[host.name] = {
        route: describeRoute(this.#options.settings, host.url),
        ...(remoteAddress && { remoteAddress, remotePort }),
        ...(source && { sourceAddress: source, sourceAddressIs: LOCAL }),
        ...(proxyStatus !== undefined && { proxyStatus }),
        ms: transportMs,
      };
      findings.lines.push(lineFor(host, toRouteLine({ host, seen, source })));
    }
    const shown = this.#attempts.some(({ source }) => source);
    if (shown) findings.lines.push(`(${LOCAL})`);
    failTogether(this.#attempts.map((attempt) => [attempt.host, toRouteFailure(attempt)]));
  }

  /** The handshake, the server's certificate, and whether ours was accepted. */
  async checkTls(findings: Findings): Promise<void> {
    const { thumbprint, ca } = this.#options;
    const roots = ca === null ? null : subjectsOf(ca);
    findings.ms = Math.max(...this.#attempts.map(({ seen }) => seen.tlsMs ?? 0));
    for (const { host, seen } of this.#attempts) {
      const { tlsVersion, cipher, serverChain, tlsMs } = seen;
      findings.facts[host.name] = {
        tlsVersion,
        cipher,
        serverChain,
        ourThumbprint: thumbprint,
        trustedRoots: roots,
        ms: tlsMs,
      };
      findings.lines.push(...toTlsLines(seen).map((line) => lineFor(host, line)));
    }
    failTogether(this.#attempts.map((attempt) => [attempt.host, toTlsFailure(attempt, { thumbprint, roots })]));
  }

  /** Whether a host speaks TLS 1.3 with us, over which no bank can ask for the certificate late. */
  get spokeTls13(): boolean {
    return this.#attempts.some(({ seen }) => seen.tlsVersion === 'TLSv1.3');
  }

  async #attempt(host: BankHost): Promise<Attempt> {
    const seen: ConnectionFacts = { reached: false, secured: false };
    let failure: GatewayError | null = null;
    try {
      await this.#options.egress.probe(host.target, host.url, seen);
    } catch (error) {
      failure = toGatewayError(error);
    }
    const { EGRESS_LOCAL_ADDRESS: localAddress = null } = this.#options.settings;
    const source = seen.localAddress ?? localAddress ?? (await sourceAddressTowards(host.hostname, host.port));
    return { host, seen, source, localAddress, failure };
  }
}

function toRouteLine({ host, seen, source }: Pick<Attempt, 'host' | 'seen' | 'source'>): string {
  const { remoteAddress, remotePort, proxyStatus } = seen;
  const { proxy, address } = host;
  const to = proxy
    ? `proxy ${proxy.protocol}//${proxy.host}${proxyStatus === undefined ? '' : `, which answered ${proxyStatus} to CONNECT ${address}`}`
    : `${remoteAddress ? toAddress(remoteAddress, remotePort) : address}, direct`;
  return source ? `from ${source} to ${to}` : `to ${to}`;
}

const subjectsOf = (pem: string): string[] =>
  parseCertificates(pem, 'BANK_CA_FILE').map(({ subject }) => subject.replaceAll('\n', ', '));

const toAddress = (address: string, port: number | undefined) =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`;

function toTlsLines({ tlsVersion, cipher, serverChain = [] }: ConnectionFacts): string[] {
  const [leaf] = serverChain;
  if (!leaf) return ['the server showed no certificate'];
  return [
    `${tlsVersion}, ${cipher}`,
    ...serverChain.map(
      ({ subject, validFrom, validTo }, index) =>
        `${index === 0 ? 'server' : '  by  '}  ${subject}, ${validFrom.slice(0, 10)} to ${validTo.slice(0, 10)}`,
    ),
    ...(leaf.names ? [`names   ${shortened(leaf.names)}`] : []),
  ];
}

function shortened(names: string): string {
  const all = names.split(', ');
  return all.length <= 5 ? names : `${all.slice(0, 5).join(', ')} and ${all.length - 5} more`;
}

/**
 * The local address that this machine would leave by towards a host, by its routing table; null when it has none.
 * A UDP socket is pointed there and asked: nothing is sent.
 */
async function sourceAddressTowards(host: string, port: number): Promise<string | null> {
  const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(port, host);
    await once(socket, 'connect');
    return socket.address().address;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}
