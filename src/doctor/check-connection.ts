import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import type { IdentityMaterial } from '../auth/identity-material.js';
import type { Egress } from '../egress/egress.js';
import type { ConnectionFacts } from '../egress/probe-connection.js';
import { describeRoute, type RouteSettings } from '../egress/route.js';
import { toGatewayError } from '../problems/gateway-error.js';
import { parseCertificates } from '../config/pem-file.js';
import { toRouteFailure, toTlsFailure, type Attempt } from './connection-failure.js';
import { lineFor, type BankHost } from './hosts.js';
import { failTogether } from './step-failed.js';
import type { Findings } from './walk.js';

const LOCAL = 'the local address; behind a NAT or a proxy the bank sees another one';

/**
 * Opens one connection to each host as every call does, and reports the route: TCP, or the tunnel through the proxy.
 * Returns the attempts, whose second half is for `checkTls`.
 */
export async function checkRoute(
  egress: Egress,
  hosts: readonly BankHost[],
  settings: RouteSettings,
  findings: Findings,
): Promise<readonly Attempt[]> {
  const attempts = await Promise.all(hosts.map((host) => attempt(egress, host, settings)));
  // the handshake is part of the same connection, and counted in the next step
  findings.ms = Math.max(...attempts.map(({ seen }) => seen.transportMs ?? 0));
  for (const { host, seen, source } of attempts) {
    const { remoteAddress, remotePort, proxyStatus, transportMs } = seen;
    findings.facts[host.name] = {
      route: describeRoute(settings, host.url),
      ...(remoteAddress && { remoteAddress, remotePort }),
      ...(source && { sourceAddress: source, sourceAddressIs: LOCAL }),
      ...(proxyStatus !== undefined && { proxyStatus }),
      ms: transportMs,
    };
    findings.lines.push(lineFor(host, toRouteLine({ host, seen, source })));
  }
  if (attempts.some(({ source }) => source)) findings.lines.push(`(${LOCAL})`);
  failTogether(attempts, toRouteFailure);
  return attempts;
}

/** Reports the handshake, the server's certificate, and whether ours was accepted. */
export function checkTls(
  attempts: readonly Attempt[],
  { certificate: { thumbprint }, ca }: IdentityMaterial,
  findings: Findings,
): void {
  const roots = ca === null ? null : subjectsOf(ca);
  findings.ms = Math.max(...attempts.map(({ seen }) => seen.tlsMs ?? 0));
  for (const { host, seen } of attempts) {
    const { tlsVersion, cipher, serverChain, tlsMs: ms } = seen;
    findings.facts[host.name] = { tlsVersion, cipher, serverChain, ourThumbprint: thumbprint, trustedRoots: roots, ms };
    findings.lines.push(...toTlsLines(seen).map((line) => lineFor(host, line)));
  }
  failTogether(attempts, (each) => toTlsFailure(each, { thumbprint, roots }));
}

async function attempt(egress: Egress, host: BankHost, settings: RouteSettings): Promise<Attempt> {
  const seen: ConnectionFacts = { reached: false, secured: false };
  const failure = await egress.probe(host.target, host.url, seen).then(() => null, toGatewayError);
  const { EGRESS_LOCAL_ADDRESS: localAddress = null } = settings;
  const source = seen.localAddress ?? localAddress ?? (await sourceAddressTowards(host.hostname, host.port));
  return { host, seen, source, localAddress, failure };
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
